// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace league::python {

/// What a process that is started does without, where the system allows it: the network (a namespace without
/// interfaces), and the home folder (an empty one in memory lies over it). It sees all other files, and processes.
class Isolation {
 public:
  /// Why something is not dropped; empty where it is.
  struct Kept {
    std::string network, home;
  };

  /// Tries it in a process of its own.
  /// @param home the folder to hide; empty: none is known
  /// @param needed files and folders; those that lie in the home folder stay visible there
  Isolation(std::filesystem::path home, const std::vector<std::filesystem::path>& needed);

  [[nodiscard]] const Kept& kept() const { return kept_; }
  /// Those that stay visible.
  [[nodiscard]] const std::vector<std::string>& visible() const { return visible_; }
  /// Drops what can be dropped, of this process. Only async-signal-safe calls: between fork and exec.
  void drop() const;

 private:
  [[nodiscard]] int drop_network() const;
  [[nodiscard]] int hide_home() const;
  [[nodiscard]] bool sees_needed() const;

  std::string home_;
  std::vector<std::string> needed_;   ///< as they were given
  std::vector<std::string> visible_;  ///< without links
  Kept kept_;
};

}  // namespace league::python
