// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace league::bench {

/// A file written and synchronised under a temporary name in its folder. `put_in_place` renames it; otherwise the
/// destructor removes it. All throw std::runtime_error with the message of the system, "no space left on device".
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

/// Whether a file is left over from an interrupted write: ".<process>.league-part".
bool is_unfinished(const std::filesystem::path& file);

/// Writes `head` and `rest` to a file atomically: after a crash the file is either complete or absent. What is no
/// regular file (a pipe, a device) is written directly.
/// @throws std::runtime_error with the message of the system, "no space left on device"
void write_whole(const std::filesystem::path& file, std::string_view head, std::string_view rest = {});

/// Why `write_whole` would fail, before there is anything to write: a folder of that name, or no folder to write to.
/// Empty where nothing is known.
std::string unwritable(const std::filesystem::path& file);

/// @throws std::runtime_error if it cannot be made
void make_folder(const std::filesystem::path& folder);

/// Keeps other processes that take this lock out of a folder. On a file system without locks it does nothing.
class FolderLock {
 public:
  /// `waits`: what is printed on stderr if another process has it.
  explicit FolderLock(const std::filesystem::path& folder, const std::string& waits = {});
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int file_;
};

/// A name for a file or folder: `/` becomes `,`; what is too long for a file system is cut and gets its hash.
std::string file_name(std::string name);

/// FNV-1a, 64 bits, in hexadecimal.
std::string hash_of(std::string_view bytes);
/// The same of a file's bytes.
std::string file_hash(const std::filesystem::path& file);

}  // namespace league::bench
