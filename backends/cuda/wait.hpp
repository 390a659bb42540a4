// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <gpu_dialect.hpp>

/// How blocks and devices that run at the same time tell each other doubles: one travels as two words of 32 bits, each
/// in one 64-bit store with a stamp. A word that has come says so itself, and no fence is needed.
namespace league::cuda {

using Word = unsigned long long;  // the type of 64-bit volatile stores

/// The longest wait. What is waited for never comes where it does not run at the same time: then a trap ends the
/// program. Not less: under a sanitizer a kernel takes a hundred times as long.
inline constexpr std::uint64_t wait_limit_ns = 20'000'000'000;

__device__ inline void publish(Word* low, Word* high, double value, unsigned stamp) {
  const Word bits = static_cast<Word>(__double_as_longlong(value)), tag = Word{stamp} << 32;
  *static_cast<volatile Word*>(low) = tag | (bits & 0xffffffffU);
  *static_cast<volatile Word*>(high) = tag | (bits >> 32);
}

/// The double that `publish` sends with this stamp.
__device__ inline double await(const Word* low, const Word* high, unsigned stamp,
                               std::uint64_t limit_ns = wait_limit_ns) {
  constexpr unsigned polls_per_look = 1024;  // at the clock, which takes longer to read than a word
  const volatile Word *low_word = low, *high_word = high;
  std::uint64_t begin_ns = 0;
  for (unsigned polls = 1;; ++polls) {
    const Word first = *low_word, second = *high_word;  // both loads are under way at once
    if (static_cast<unsigned>(first >> 32) == stamp && static_cast<unsigned>(second >> 32) == stamp)
      return __longlong_as_double(static_cast<long long>((first & 0xffffffffU) | second << 32));
    if (polls % polls_per_look != 0) continue;
    const std::uint64_t now_ns = clock_ns();
    if (begin_ns == 0) begin_ns = now_ns;
    if (now_ns - begin_ns > limit_ns) trap();
  }
}

}  // namespace league::cuda
