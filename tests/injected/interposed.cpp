// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstdio>

#include "tests/injected/failing.hpp"

// The calls that can fail, in place of the C library's.
using namespace league::injected;

extern "C" {

void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* data, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);

void* malloc(std::size_t size) { return fails(allocation) ? failed<void*>(ENOMEM, nullptr) : __libc_malloc(size); }
void* calloc(std::size_t count, std::size_t size) {
  return fails(allocation) ? failed<void*>(ENOMEM, nullptr) : __libc_calloc(count, size);
}
void* realloc(void* data, std::size_t size) {
  return fails(allocation) ? failed<void*>(ENOMEM, nullptr) : __libc_realloc(data, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  return fails(allocation) ? failed<void*>(ENOMEM, nullptr) : __libc_memalign(alignment, size);
}
int posix_memalign(void** data, std::size_t alignment, std::size_t size) {
  *data = fails(allocation) ? nullptr : __libc_memalign(alignment, size);
  return *data == nullptr ? ENOMEM : 0;
}

ssize_t write(int file, const void* data, std::size_t size) {
  static const auto next = real<ssize_t (*)(int, const void*, std::size_t)>("write");
  return fails(writing) ? failed<ssize_t>(ENOSPC, -1) : next(file, data, size);
}
ssize_t writev(int file, const iovec* parts, int count) {
  static const auto next = real<ssize_t (*)(int, const iovec*, int)>("writev");
  return fails(writing) ? failed<ssize_t>(ENOSPC, -1) : next(file, parts, count);
}
int rename(const char* from, const char* to) {
  static const auto next = real<int (*)(const char*, const char*)>("rename");
  return fails(renaming) ? failed(EIO, -1) : next(from, to);
}
int fsync(int file) {
  static const auto next = real<int (*)(int)>("fsync");
  return fails(syncing) ? failed(EIO, -1) : next(file);
}
pid_t fork() {
  static const auto next = real<pid_t (*)()>("fork");
  return fails(forking) ? failed<pid_t>(EAGAIN, -1) : next();
}
ssize_t recv(int socket, void* data, std::size_t size, int flags) {
  static const auto next = real<ssize_t (*)(int, void*, std::size_t, int)>("recv");
  return fails(receiving) ? failed<ssize_t>(ECONNRESET, -1) : next(socket, data, size, flags);
}
}
