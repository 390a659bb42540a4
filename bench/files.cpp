// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/files.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <system_error>

namespace league::bench {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& file, const std::string& what) {
  throw std::runtime_error("cannot write '" + file.string() + "': " + what);
}

std::string system_message() { return std::generic_category().message(errno); }

/// A file open for writing; unlike a stream it says why it fails. `shown`: its name in messages.
class Descriptor {
 public:
  Descriptor(const fs::path& file, fs::path shown)
      : file_(std::move(shown)), number_(open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) {
    if (number_ < 0) fail(file_, system_message());
  }
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  void write(std::string_view text) {
    while (!text.empty()) {
      const ssize_t count = ::write(number_, text.data(), text.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) fail(file_, system_message());
      text.remove_prefix(static_cast<std::size_t>(count));
    }
  }
  void sync() const {
    if (fsync(number_) != 0) fail(file_, system_message());
  }
  void close() {
    const int closed = ::close(number_);
    number_ = -1;
    if (closed != 0) fail(file_, system_message());
  }

 private:
  fs::path file_;
  int number_;
};

/// fsync of a folder, which makes a rename in it durable.
void sync_folder(const fs::path& folder) {
  const int opened = open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0) return;                                     // a folder may be writable and not readable
  const bool failed = fsync(opened) != 0 && errno != EINVAL;  // EINVAL: not supported by this file system
  const std::string message = system_message();
  ::close(opened);
  if (failed) fail(folder, message);
}

constexpr std::string_view unfinished_ending = ".league-part";

std::uint64_t hash(std::string_view bytes, std::uint64_t state = 0xcbf29ce484222325U) {
  for (const char byte : bytes) state = (state ^ static_cast<unsigned char>(byte)) * 0x100000001b3U;
  return state;
}

std::string hexadecimal(std::uint64_t value) {
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(value));
  return text.data();
}

}  // namespace

NewFile::NewFile(fs::path file, std::string_view head, std::string_view rest)
    : file_(std::move(file)),
      temporary_(file_.parent_path() / ("." + std::to_string(getpid()) + std::string(unfinished_ending))) {
  try {
    Descriptor descriptor(temporary_, file_);
    descriptor.write(head);
    descriptor.write(rest);
    descriptor.sync();
    descriptor.close();
  } catch (...) {
    std::error_code none;
    fs::remove(temporary_, none);
    throw;
  }
}

NewFile::~NewFile() {
  std::error_code none;
  if (!temporary_.empty()) fs::remove(temporary_, none);
}

void NewFile::put_in_place() {
  if (std::rename(temporary_.c_str(), file_.c_str()) != 0) fail(file_, system_message());
  temporary_.clear();
  sync_folder(file_.parent_path());
}

bool is_unfinished(const fs::path& file) {
  const std::string name = file.filename().string();
  const std::size_t digits_end = name.find_first_not_of("0123456789", 1);
  return name.starts_with('.') && digits_end > 1 && digits_end != std::string::npos &&
         name.substr(digits_end) == unfinished_ending;
}

void write_whole(const fs::path& file, std::string_view head, std::string_view rest) {
  std::error_code none;
  if (fs::exists(file, none) && !fs::is_regular_file(file, none)) {
    Descriptor descriptor(file, file);
    descriptor.write(head);
    descriptor.write(rest);
    return descriptor.close();
  }
  NewFile(file, head, rest).put_in_place();
}

std::string unwritable(const fs::path& file) {
  std::error_code none;
  const fs::path folder = file.has_parent_path() ? file.parent_path() : ".";
  if (fs::is_directory(file, none)) return "it is a folder";
  if (!fs::is_directory(folder, none)) return "there is no folder '" + folder.string() + "'";
  if (!fs::exists(file, none) && access(folder.c_str(), W_OK) != 0)
    return "'" + folder.string() + "': " + system_message();
  return {};
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw std::runtime_error("cannot make the folder '" + folder.string() + "': " + error.message());
}

FolderLock::FolderLock(const fs::path& folder, const std::string& waits)
    : file_(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (file_ < 0 || flock(file_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
  std::cerr << waits;
  flock(file_, LOCK_EX);
}

FolderLock::~FolderLock() {
  if (file_ >= 0) close(file_);
}

std::string file_name(std::string name) {
  constexpr std::size_t max_length = 230;  // of 255, with room for a number and an ending
  std::ranges::replace(name, '/', ',');
  if (name.size() > max_length) name = name.substr(0, max_length - 17) + "~" + hexadecimal(hash(name));
  return name;
}

std::string hash_of(std::string_view bytes) { return hexadecimal(hash(bytes)); }

std::string file_hash(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw std::runtime_error("cannot read '" + file.string() + "'");
  std::uint64_t state = hash({});
  std::array<char, 1 << 16> block{};
  while (stream.read(block.data(), block.size()) || stream.gcount() > 0)
    state = hash({block.data(), static_cast<std::size_t>(stream.gcount())}, state);
  return hexadecimal(state);
}

}  // namespace league::bench
