// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/mma_native.hpp"

namespace league::blocks {

/// The lanes of a subgroup of the architecture that this file is compiled for: a warp, a wavefront, or one host thread.
/// Reductions are butterflies over groups of `lanes` neighbouring lanes, a power of two: all get the result.
/// @pre for reductions: all lanes of the subgroup call
struct NativeLanes {
  using Subgroup = mma::Native<mma::Element::s8>;
  static constexpr int size = Subgroup::lanes;
  int rank;

  /// Whether it is true for all lanes of the subgroup.
  LEAGUE_FUNCTION static bool all(bool value) { return !Subgroup::any(!value); }
  /// The value of lane `rank ^ offset`.
  template <class T>
  LEAGUE_FUNCTION T across(T value, int offset) const {
#if defined(__CUDA_ARCH__)
    return __shfl_xor_sync(0xffffffffU, value, offset);  // one instruction, of which the compiler knows the pattern
#else
    return Subgroup::shuffle(value, rank ^ offset);
#endif
  }
  template <class T>
  LEAGUE_FUNCTION T sum(T value, int lanes = size) const {
    for (int offset = lanes / 2; offset > 0; offset /= 2) value += across(value, offset);
    return value;
  }
  template <class T>
  LEAGUE_FUNCTION T min(T value, int lanes = size) const {
    for (int offset = lanes / 2; offset > 0; offset /= 2) {
      const T other = across(value, offset);
      if (other < value) value = other;
    }
    return value;
  }
};

}  // namespace league::blocks
