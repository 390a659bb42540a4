// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <span>
#include <type_traits>

#include "algorithms/contract/random.hpp"

/// Values that depend on (seed, stream, global index) only: every rank, thread and device makes its own rows, bitwise
/// the same. Integer arithmetic and exact scaling, except in normal values.
namespace league {

/// A random integer in [0, below).
inline std::uint64_t random_below(std::uint64_t below, std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((Wide{random_bits(seed, stream, index)} * below) >> 64);
}

/// A random value: in [-1/2, 1/2) with all digits of a floating type, in [-2^20, 2^20) for an integer.
template <class T>
T random_value(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
  const std::uint64_t bits = random_bits(seed, stream, index);
  if constexpr (std::is_same_v<T, float>)
    return static_cast<float>(static_cast<std::int32_t>(bits >> 40) - (1 << 23)) * 0x1p-24F;
  else if constexpr (std::is_same_v<T, double>)
    return static_cast<double>(static_cast<std::int64_t>(bits >> 11) - (std::int64_t{1} << 52)) * 0x1p-53;
  else if constexpr (std::is_same_v<T, std::uint8_t>)
    return static_cast<std::uint8_t>(bits >> 56);
  else
    return static_cast<T>(static_cast<std::int64_t>(bits >> 43) - (std::int64_t{1} << 20));
}

/// A value of the standard normal distribution, from this stream and the next. Source: Box, Muller: A note on the
/// generation of random normal deviates, 1958.
inline double random_normal(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
  const double u = 0.5 - random_value<double>(seed, stream, index);  // in (0, 1]
  const double angle = 2 * std::numbers::pi * random_value<double>(seed, stream + 1, index);
  return std::sqrt(-2 * std::log(u)) * std::cos(angle);
}

/// `values[i] = random_value(seed, stream, first + i)`, in parallel.
template <class T>
void fill_random(std::span<T> values, std::uint64_t seed, std::uint64_t stream, std::int64_t first = 0) {
  const auto size = static_cast<std::int64_t>(values.size());
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < size; ++i)
    values[static_cast<std::size_t>(i)] = random_value<T>(seed, stream, static_cast<std::uint64_t>(first + i));
}

}  // namespace league
