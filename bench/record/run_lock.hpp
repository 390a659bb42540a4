// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>

namespace league::bench {

/// Keeps other runs out of a folder for as long as this object lives: a lock (flock) on the file `.league-lock` in it,
/// which the kernel releases with the process. A file, not the folder: NFS locks only what is open for writing. On a
/// file system without locks it prints a warning and does nothing.
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
