// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/data/shuffle.hpp"

#include <bit>
#include <numeric>
#include <random>
#include <utility>

namespace league::bench {

std::vector<std::int64_t> numpy_permutation(std::int64_t n, std::uint64_t seed) {
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(n));
  std::iota(numbers.begin(), numbers.end(), std::int64_t{0});
  std::mt19937 twister(static_cast<std::uint32_t>(seed));
  for (std::size_t last = numbers.size(); last-- > 1;) {
    const std::size_t mask = std::bit_ceil(last + 1) - 1;
    std::size_t place = twister() & mask;
    while (place > last) place = twister() & mask;
    std::swap(numbers[last], numbers[place]);
  }
  return numbers;
}

std::int64_t quarter_of(std::int64_t n) { return (n + 3) / 4; }

Split split_rows(std::int64_t n, std::int64_t test, bool shuffled, std::uint64_t seed) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(n));
  std::iota(rows.begin(), rows.end(), std::int64_t{0});
  if (!shuffled) return {{rows.begin(), rows.end() - test}, {rows.end() - test, rows.end()}};
  rows = numpy_permutation(n, seed);
  return {{rows.begin() + test, rows.end()}, {rows.begin(), rows.begin() + test}};
}

}  // namespace league::bench
