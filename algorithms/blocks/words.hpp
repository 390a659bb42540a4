// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include "algorithms/blocks/pack.hpp"

namespace league::blocks {

/// Loads, conversions and stores of neighbouring values, in plain C++. `NativeWords` does the same with instructions of
/// the architecture; kernels are templates over the two.
struct PlainWords {
  /// Four neighbouring values as floats.
  LEAGUE_FUNCTION static Pack<float> widen(const Pack<float>& word) { return word; }
  LEAGUE_FUNCTION static Pack<float> widen(std::uint32_t word) {
    Pack<float> wide;
    for (int k = 0; k < 4; ++k) wide.values[k] = static_cast<float>(word >> 8 * k & 0xff);
    return wide;
  }
  /// Neighbouring bytes as floats, one per lane of a host vector.
  template <class Vector>
  static Vector widen_bytes(const std::uint8_t* from) {
    Vector wide;
    for (std::size_t lane = 0; lane < sizeof(Vector) / sizeof(float); ++lane)
      wide[lane] = static_cast<float>(from[lane]);
    return wide;
  }
  /// A word that is read once.
  template <class Word>
  LEAGUE_FUNCTION static Word load_once(const Word* from) {
    return *from;
  }
  /// A non-temporal store: data that is not read again soon.
  template <class T, int bytes>
  LEAGUE_FUNCTION static void store_streaming(Pack<T, bytes>* to, const Pack<T, bytes>& value) {
    *to = value;
  }
  /// Makes a thread's streaming stores visible to the others.
  LEAGUE_FUNCTION static void finish_streaming() {}
};

}  // namespace league::blocks
