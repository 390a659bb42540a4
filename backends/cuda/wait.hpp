// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <gpu_dialect.hpp>
#include <type_traits>

/// Communication between concurrent blocks and devices by stamped words: an 8-byte value is sent as two 32-bit words, a
/// 4-byte value as one, each in one 64-bit store together with a stamp. The stamp shows that the word has arrived, so
/// no fence is needed.
namespace league::cuda {

using Word = unsigned long long;  // the type of 64-bit volatile stores

/// Time-out of a wait: traps if the sender does not run concurrently. Long, because sanitizers slow kernels down a
/// hundredfold.
inline constexpr std::uint64_t wait_limit_ns = 20'000'000'000;

/// A value as bits, and back; of 4 bytes, in the lower half.
template <class T>
__device__ Word bits_of(T value) {
  if constexpr (std::is_same_v<T, double>) return static_cast<Word>(__double_as_longlong(value));
  if constexpr (std::is_same_v<T, float>) return __float_as_uint(value);
  if constexpr (std::is_integral_v<T>) return static_cast<std::make_unsigned_t<T>>(value);
}
template <class T>
__device__ T value_of(Word bits) {
  if constexpr (std::is_same_v<T, double>) return __longlong_as_double(static_cast<long long>(bits));
  if constexpr (std::is_same_v<T, float>) return __uint_as_float(static_cast<unsigned>(bits));
  if constexpr (std::is_integral_v<T>) return static_cast<T>(bits);
}

template <class T>
__device__ void publish(Word* low, Word* high, T value, unsigned stamp) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);
  const Word bits = bits_of(value), tag = Word{stamp} << 32;
  *static_cast<volatile Word*>(low) = tag | (bits & 0xffffffffU);
  if constexpr (sizeof(T) == 8) *static_cast<volatile Word*>(high) = tag | (bits >> 32);
}

/// The value that `publish` sends with this stamp.
template <class T = double>
__device__ T await(const Word* low, const Word* high, unsigned stamp, std::uint64_t limit_ns = wait_limit_ns) {
  constexpr unsigned polls_per_look = 1024;  // the clock takes longer to read than a word
  const volatile Word* low_word = low;
  std::uint64_t begin_ns = 0;
  for (unsigned polls = 1;; ++polls) {
    const Word first = *low_word;
    if constexpr (sizeof(T) == 4) {
      if (static_cast<unsigned>(first >> 32) == stamp) return value_of<T>(first & 0xffffffffU);
    } else {
      const Word second = *static_cast<const volatile Word*>(high);  // both loads are in flight together
      if (static_cast<unsigned>(first >> 32) == stamp && static_cast<unsigned>(second >> 32) == stamp)
        return value_of<T>((first & 0xffffffffU) | second << 32);
    }
    if (polls % polls_per_look != 0) continue;
    const std::uint64_t now_ns = clock_ns();
    if (begin_ns == 0) begin_ns = now_ns;
    if (now_ns - begin_ns > limit_ns) trap();
  }
}

}  // namespace league::cuda
