// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <new>
#include <vector>

#include "backends/host_memory.hpp"

namespace league {
namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;
constexpr std::array<std::size_t, 7> sizes{0, 1, 4095, 1048575, 1048577, huge_page, 3 * huge_page + 5};

TEST(HostMemory, PagesAreZeroAlignedAndWritable) {
  for (const std::size_t size : sizes) {
    std::byte* data = allocate_pages(size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(data) % huge_page, 0) << size;
    const std::span<std::byte> bytes(data, size);
    EXPECT_TRUE(std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{}; })) << size;
    fill_bytes(bytes, std::byte{0xff});
    EXPECT_TRUE(std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{0xff}; })) << size;
    free_pages(data, size);
  }
}

TEST(HostMemory, BlocksStandBesideEachOther) {
  std::byte* first = allocate_pages(huge_page + 1);
  std::byte* second = allocate_pages(huge_page);
  fill_bytes({first, huge_page + 1}, std::byte{1});
  fill_bytes({second, huge_page}, std::byte{2});
  EXPECT_EQ(first[huge_page], std::byte{1});
  free_pages(first, huge_page + 1);
  EXPECT_EQ(second[huge_page - 1], std::byte{2});
  free_pages(second, huge_page);
}

TEST(HostMemory, NoMemoryIsBadAlloc) {
  EXPECT_THROW(static_cast<void>(allocate_pages(std::size_t{1} << 60)), std::bad_alloc);
}

TEST(HostMemory, CopiesAndFillsEveryByteAndNoOther) {
  for (const std::size_t size : sizes) {
    std::vector<std::byte> from(size), to(size + 2, std::byte{7});
    for (std::size_t i = 0; i < size; ++i) from[i] = static_cast<std::byte>(i * 131 >> 3);
    copy_bytes(from, std::span(to).subspan(1, size));
    EXPECT_TRUE(std::equal(from.begin(), from.end(), to.begin() + 1)) << size;
    fill_bytes(std::span(to).subspan(1, size), std::byte{9});
    EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(to, std::byte{9})), size);
    EXPECT_EQ(to.front(), std::byte{7});
    EXPECT_EQ(to.back(), std::byte{7});
  }
}

}  // namespace
}  // namespace league
