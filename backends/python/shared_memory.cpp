// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/python/shared_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <new>

namespace league::python {

SharedMemory::SharedMemory(std::size_t size)
    : size_(std::max<std::size_t>(size, 1)), file_(memfd_create("league", MFD_CLOEXEC)) {
  // Pages are allocated now: otherwise an access without memory left would end the process (SIGBUS).
  if (file_ < 0 || posix_fallocate(file_, 0, static_cast<off_t>(size_)) != 0) {
    if (file_ >= 0) close(file_);
    throw std::bad_alloc();
  }
  void* mapped = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
  if (mapped == MAP_FAILED) {
    close(file_);
    throw std::bad_alloc();
  }
  data_ = static_cast<std::byte*>(mapped);
}

SharedMemory::~SharedMemory() {
  munmap(data_, size_);
  close(file_);
}

}  // namespace league::python
