// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <set>
#include <string>

namespace league::tests {

/// A folder of its own, gone with everything in it when the test is over.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Writes a file into it. @returns its path
  std::filesystem::path write(const std::string& name, const std::string& content) const;
  /// What is in it.
  [[nodiscard]] std::set<std::string> names() const;

 private:
  std::filesystem::path path_;
};

std::string read_file(const std::filesystem::path& file);

}  // namespace league::tests
