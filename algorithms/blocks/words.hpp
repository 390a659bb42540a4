// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include "algorithms/blocks/pack.hpp"

namespace league::blocks {

/// How kernels read, widen and store neighbouring values: in C++ alone. `NativeWords` does the same with instructions
/// of the architecture; a kernel takes one of the two.
struct PlainWords {
  /// Four neighbouring values as floats.
  LEAGUE_FUNCTION static Pack<float> widen(const Pack<float>& word) { return word; }
  LEAGUE_FUNCTION static Pack<float> widen(std::uint32_t word) {
    Pack<float> wide;
    for (int k = 0; k < 4; ++k) wide.values[k] = static_cast<float>(word >> 8 * k & 0xff);
    return wide;
  }
  /// As many neighbouring bytes as a vector of a host has lanes, as floats.
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
  /// Stores what is not read again soon.
  template <class T, int bytes>
  LEAGUE_FUNCTION static void store_streaming(Pack<T, bytes>* to, const Pack<T, bytes>& value) {
    *to = value;
  }
  /// Makes a thread's streaming stores visible to the others.
  LEAGUE_FUNCTION static void finish_streaming() {}
};

}  // namespace league::blocks
