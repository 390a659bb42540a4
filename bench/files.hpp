// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace league::bench {

/// Writes a file (its parts one after another) under a temporary name, then renames it: it is there whole or not at
/// all. What is no regular file (a pipe, a device) is written straight.
/// @throws std::runtime_error saying what the system said, "no space left on device"
void write_whole(const std::filesystem::path& file, std::string_view head, std::string_view rest = {});

/// @throws std::runtime_error if it cannot be made
void make_folder(const std::filesystem::path& folder);

/// Keeps other processes that take this lock out of a folder. On a file system without locks it does nothing.
class FolderLock {
 public:
  explicit FolderLock(const std::filesystem::path& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int file_;
};

/// A name for a file or folder: `/` becomes `,`; what is longer than file systems take is cut and marked with its hash.
std::string file_name(std::string name);

/// FNV-1a, 64 bits, of a file's bytes, in hexadecimal.
std::string file_hash(const std::filesystem::path& file);

}  // namespace league::bench
