// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <memory_resource>

#include "algorithms/blocks/words_native.hpp"
#include "algorithms/vector_add/wide/lines.hpp"
#include "backends/array.hpp"

namespace league {
namespace {

/// Adds [0, end) and expects that what lies behind keeps its value. Problems in the suite's tests fit the cache, where
/// `wide` does not stream.
template <class T, class Words>
void expect_sums(std::int64_t end) {
  constexpr std::int64_t size = 200;
  const auto make = [] { return HostArray(*std::pmr::get_default_resource(), dtype_of<T>, {size}); };
  HostArray a = make(), b = make(), sum = make();
  const auto at = [](HostArray& array, std::int64_t i) -> T& { return array.values<T>()[static_cast<std::size_t>(i)]; };
  for (std::int64_t i = 0; i < size; ++i) {
    at(a, i) = static_cast<T>(i);
    at(b, i) = static_cast<T>(1000 * i);
    at(sum, i) = T{-1};
  }
  add_lines<Words>(0, end, a.values<T>().data(), b.values<T>().data(), sum.values<T>().data());
  Words::finish_streaming();
  for (std::int64_t i = 0; i < size; ++i) EXPECT_EQ(at(sum, i), i < end ? static_cast<T>(1001 * i) : T{-1}) << i;
}

template <class T>
class AddLines : public testing::Test {};
using Types = testing::Types<float, double, std::int32_t>;
TYPED_TEST_SUITE(AddLines, Types);

TYPED_TEST(AddLines, PlainAndStreamingStoresGiveTheSameSums) {
  for (const std::int64_t end : {0, 1, 15, 16, 17, 64, 127, 200}) {
    expect_sums<TypeParam, blocks::PlainWords>(end);
    expect_sums<TypeParam, blocks::NativeWords>(end);
  }
}

}  // namespace
}  // namespace league
