// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "backends/portable.hpp"

/// Large blocks of host memory, by all threads: one thread alone gets about 1 GB of new pages per second from the
/// system, and writes about 10 GB/s.
namespace league {

/// Memory in huge pages, where the system has them, zeroed; processes that are started do not get it.
/// @throws std::bad_alloc
[[nodiscard]] std::byte* allocate_pages(std::size_t bytes);
/// @param bytes as they were allocated
void free_pages(std::byte* data, std::size_t bytes);

void fill_bytes(std::span<std::byte> bytes, std::byte value);
/// @pre `to` has as many bytes, and they do not overlap
void copy_bytes(std::span<const std::byte> from, std::span<std::byte> to);

/// What word `index` of an array, 8 bytes of it, adds to the array's digest: the finaliser of SplitMix64 (Steele, Lea,
/// Flood: Fast splittable pseudorandom number generators, OOPSLA 2014).
LEAGUE_FUNCTION std::uint64_t digest_of(std::uint64_t word, std::uint64_t index) {
  std::uint64_t z = word + (index + 1) * 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}
/// Word `index` of some bytes, which need not be aligned; zeros behind the last.
LEAGUE_FUNCTION std::uint64_t word_of(const unsigned char* bytes, std::size_t count, std::size_t index) {
  std::uint64_t word = 0;
  const std::size_t begin = index * sizeof(word), left = count - begin;
  if (left >= sizeof(word)) {
    __builtin_memcpy(&word, bytes + begin, sizeof(word));
    return word;
  }
  for (std::size_t i = 0; i < left; ++i) word |= static_cast<std::uint64_t>(bytes[begin + i]) << (8 * i);
  return word;
}
/// The sum of the words' digests: the same for the same bytes, whatever the order of the sum.
[[nodiscard]] std::uint64_t digest(std::span<const std::byte> bytes);

}  // namespace league
