// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/host_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>

namespace league {
namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20, page = 4096, block = std::size_t{1} << 20;

std::size_t in_units(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit; }

std::size_t mapped_bytes(std::size_t bytes) { return std::max<std::size_t>(in_units(bytes, huge_page), 1) * huge_page; }

/// Calls `body(begin, count)` for all blocks of `bytes`, in parallel.
template <class Body>
void in_blocks(std::size_t bytes, const Body& body) {
  const auto blocks = static_cast<std::int64_t>(in_units(bytes, block));
#pragma omp parallel for schedule(static) if (blocks > 1)
  for (std::int64_t i = 0; i < blocks; ++i) {
    const std::size_t begin = static_cast<std::size_t>(i) * block;
    body(begin, std::min(block, bytes - begin));
  }
}

}  // namespace

std::byte* allocate_pages(std::size_t bytes) {
  const std::size_t whole = mapped_bytes(bytes), reserved = whole + huge_page;
  void* const mapped = mmap(nullptr, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  auto* const begin = static_cast<std::byte*>(mapped);
  const std::size_t before = in_units(reinterpret_cast<std::uintptr_t>(mapped), huge_page) * huge_page -
                             reinterpret_cast<std::uintptr_t>(mapped);
  std::byte* const data = begin + before;
  if (before > 0) munmap(begin, before);
  munmap(data + whole, huge_page - before);
  madvise(data, whole, MADV_HUGEPAGE);  // ordinary pages where it is refused
  madvise(data, whole, MADV_DONTFORK);  // a device may write to it: no copy for another process
  in_blocks(whole, [data](std::size_t first, std::size_t count) {
    for (std::size_t at = first; at < first + count; at += page)
      static_cast<volatile std::byte*>(data)[at] = std::byte{};
  });
  return data;
}

void free_pages(std::byte* data, std::size_t bytes) { munmap(data, mapped_bytes(bytes)); }

void fill_bytes(std::span<std::byte> bytes, std::byte value) {
  in_blocks(bytes.size(), [&](std::size_t begin, std::size_t count) {
    std::memset(bytes.data() + begin, std::to_integer<int>(value), count);
  });
}

void copy_bytes(std::span<const std::byte> from, std::span<std::byte> to) {
  in_blocks(from.size(),
            [&](std::size_t begin, std::size_t count) { std::memcpy(to.data() + begin, from.data() + begin, count); });
}

std::uint64_t digest(std::span<const std::byte> bytes) {
  const auto* const data = reinterpret_cast<const unsigned char*>(bytes.data());
  const auto words = static_cast<std::int64_t>(in_units(bytes.size(), sizeof(std::uint64_t)));
  std::uint64_t sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum) if (bytes.size() > block)
  for (std::int64_t i = 0; i < words; ++i) {
    const auto index = static_cast<std::size_t>(i);
    sum += digest_of(word_of(data, bytes.size(), index), index);
  }
  return sum;
}

}  // namespace league
