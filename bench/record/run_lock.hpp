// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>

namespace league::bench {

/// Keeps other runs out of a folder for as long as this object lives: a lock (flock) on the file `.league-lock` in it,
/// which the system releases however the process ends. A file, not the folder itself: NFS locks only what is open for
/// writing. Where the file system has no locks it says so on stderr and keeps nobody out.
class RunLock {
 public:
  /// @throws BadInput if another run holds it, std::runtime_error if the folder cannot be written
  explicit RunLock(const std::filesystem::path& folder);
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

 private:
  std::filesystem::path name_;
  int file_ = -1;
};

}  // namespace league::bench
