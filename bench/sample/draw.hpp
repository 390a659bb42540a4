// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "algorithms/contract/registry.hpp"
#include "algorithms/oracle/generate.hpp"

namespace league::bench {

/// Counter-based random numbers of (seed, stream), the same on every machine.
class Random {
 public:
  Random(std::uint64_t seed, std::uint64_t stream) : seed_(seed), stream_(stream) {}
  /// In [0, count). @pre count > 0
  std::int64_t below(std::int64_t count) {
    return static_cast<std::int64_t>(random_below(static_cast<std::uint64_t>(count), seed_, stream_, drawn_++));
  }
  /// In [0, 1).
  double real() { return random_value<double>(seed_, stream_, drawn_++) + 0.5; }
  bool chance(double probability) { return real() < probability; }
  /// @pre not empty
  template <class T>
  const T& one_of(std::span<const T> all) {
    return all[static_cast<std::size_t>(below(static_cast<std::int64_t>(all.size())))];
  }

 private:
  std::uint64_t seed_, stream_, drawn_ = 0;
};

/// An extent of about 2^`exponent` within [min, max]: as it is, odd, prime, a power of two or one beside it, or
/// `min`.
std::int64_t draw_extent(Random& random, double exponent, std::int64_t min, std::int64_t max);

/// Values for all parameters of an algorithm. The product of the sizes is about 2^x elements, x uniform up to
/// `exponent`, split at random between the sizes; other numbers are at their default or near it.
Parameters draw_parameters(Random& random, const Algorithm& algorithm, double exponent);

/// A launch: the automatic one with probability 1/2, else each part left open, tiny, common or odd.
Launch draw_launch(Random& random, DeviceKind kind);

}  // namespace league::bench
