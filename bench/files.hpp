// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace league::bench {

/// A file that is written, and on its disk, under a temporary name in the folder where it belongs. `put_in_place`
/// renames it; without that it goes with this object. All throw std::runtime_error saying what the system said, "no
/// space left on device".
/// @pre one at a time in a folder
class NewFile {
 public:
  NewFile(std::filesystem::path file, std::string_view head, std::string_view rest = {});
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  void put_in_place();

 private:
  std::filesystem::path file_, temporary_;
};

/// Whether a file is what a write that was interrupted left: ".<process>.league-part".
bool is_unfinished(const std::filesystem::path& file);

/// Writes a file, its parts one after another: after a crash, too, it is there whole or not at all. What is no regular
/// file (a pipe, a device) is written straight.
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

/// FNV-1a, 64 bits, in hexadecimal.
std::string hash_of(std::string_view bytes);
/// The same of a file's bytes.
std::string file_hash(const std::filesystem::path& file);

}  // namespace league::bench
