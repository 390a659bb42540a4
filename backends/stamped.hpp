// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <type_traits>

#include "backends/portable.hpp"

/// Stamped words: an 8-byte value is sent as two 32-bit halves, a 4-byte value as one, each in one 64-bit store
/// together with a stamp. The stamp shows that the value has arrived, so no fence is needed.
namespace league::stamped {

using Word = unsigned long long;  // the type of 64-bit volatile stores

/// A value as bits, and back; of 4 bytes, in the lower half.
template <class T>
LEAGUE_FUNCTION Word bits_of(T value) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);
  std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t> bits;
  __builtin_memcpy(&bits, &value, sizeof(T));
  return bits;
}
template <class T>
LEAGUE_FUNCTION T value_of(Word word) {
  const auto bits = static_cast<std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>>(word);
  T value;
  __builtin_memcpy(&value, &bits, sizeof(T));
  return value;
}

/// `high` is not used by values of 4 bytes.
template <class T>
LEAGUE_FUNCTION void publish(Word* low, Word* high, T value, unsigned stamp) {
  const Word bits = bits_of(value), tag = Word{stamp} << 32;
  *static_cast<volatile Word*>(low) = tag | (bits & 0xffffffffU);
  if constexpr (sizeof(T) == 8) *static_cast<volatile Word*>(high) = tag | (bits >> 32);
}

/// Reads into `value` what `publish` sends with this stamp. @returns the bits in which stamps differ, 0 if it is there.
/// (For several values these are joined by `|`: with a test for each, nvcc waits for some loads before it issues
/// others.)
template <class T>
LEAGUE_FUNCTION unsigned read(const Word* low, const Word* high, unsigned stamp, T& value) {
  const Word first = *static_cast<const volatile Word*>(low);
  Word bits = first & 0xffffffffU;
  unsigned missing = static_cast<unsigned>(first >> 32) ^ stamp;
  if constexpr (sizeof(T) == 8) {
    const Word second = *static_cast<const volatile Word*>(high);  // both loads are in flight together
    missing |= static_cast<unsigned>(second >> 32) ^ stamp;
    bits |= second << 32;
  }
  value = value_of<T>(bits);
  return missing;
}
/// Whether the value is there: then it is in `value`, which is left as it was otherwise.
template <class T>
LEAGUE_FUNCTION bool arrived(const Word* low, const Word* high, unsigned stamp, T& value) {
  T sent;
  if (read(low, high, stamp, sent) != 0) return false;
  value = sent;
  return true;
}

}  // namespace league::stamped
