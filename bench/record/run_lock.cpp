// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/record/run_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <iostream>
#include <string>
#include <system_error>

#include "bench/errors.hpp"

namespace league::bench {
namespace {

namespace fs = std::filesystem;

/// Whether an open file still has its name: a run that ends removes the file.
bool has_name(int file, const fs::path& name) {
  struct stat opened{}, named{};
  return fstat(file, &opened) == 0 && stat(name.c_str(), &named) == 0 && opened.st_ino == named.st_ino &&
         opened.st_dev == named.st_dev;
}

/// The holder of the lock, as written in the file.
std::string holder(int file) {
  std::array<char, 300> text{};
  const ssize_t count = pread(file, text.data(), text.size(), 0);
  return count > 0 ? " (" + std::string(text.data(), static_cast<std::size_t>(count)) + ")" : "";
}

void write_holder(int file) {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  const std::string text = "process " + std::to_string(getpid()) + " on " + host.data();
  if (ftruncate(file, 0) == 0) static_cast<void>(!write(file, text.data(), text.size()));  // only for the message
}

int open_file(const fs::path& name) {
  const int file = open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file >= 0) return file;
  throw std::runtime_error("cannot write '" + name.string() + "': " + std::generic_category().message(errno));
}

}  // namespace

RunLock::RunLock(const fs::path& folder) : name_(folder / ".league-lock") {
  for (;;) {
    file_ = open_file(name_);
    const bool locked = flock(file_, LOCK_EX | LOCK_NB) == 0;
    const int error = errno;
    if (!locked && error == EWOULDBLOCK) {
      const std::string who = holder(file_);
      close(file_);
      throw BadInput("another run" + who + " is writing into '" + folder.string() +
                     "'. Wait until it has ended, or give another folder with --records");
    }
    if (!locked)
      std::cerr << "league: no file locks in '" << folder.string() << "' (" << std::generic_category().message(error)
                << "): do not start a second run there\n";
    if (!locked || has_name(file_, name_)) break;
    close(file_);
  }
  write_holder(file_);
}

RunLock::~RunLock() {
  unlink(name_.c_str());
  close(file_);
}

}  // namespace league::bench
