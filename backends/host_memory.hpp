// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <span>

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

}  // namespace league
