// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include "backends/portable.hpp"

/// The cells of a step, and what becomes of one: the same in all models.
namespace league::stencil {

/// Planes of one shard to compute, [planes x n x n], with their neighbour planes. Cells outside the cube are 0 and
/// never read.
template <class T>
struct Grid {
  const T* from;  ///< the first of the planes
  T* to;
  int n;
  std::int64_t plane;  ///< n x n: an argument, as nvcc would multiply again for each neighbour of a cell
  int planes;
  bool has_below, has_above;  ///< a plane exists before the first, after the last

  /// The first plane that can be read, and the one after the last.
  [[nodiscard]] LEAGUE_FUNCTION int lowest() const { return has_below ? -1 : 0; }
  [[nodiscard]] LEAGUE_FUNCTION int end() const { return planes + (has_above ? 1 : 0); }
  [[nodiscard]] LEAGUE_FUNCTION bool inside(int z, int y) const {
    return y >= 0 && y < n && z >= lowest() && z < end();
  }
  [[nodiscard]] LEAGUE_FUNCTION std::int64_t index(int z, int y, int x) const {
    return (std::int64_t{z} * n + y) * n + x;
  }
};

/// A cell after a step. The weights are powers of two: six roundings, with or without FMA contraction.
template <class T>
LEAGUE_FUNCTION T step_cell(T centre, T west, T east, T south, T north, T below, T above) {
  return T{0.25} * centre + T{0.125} * (((west + east) + (south + north)) + (below + above));
}

}  // namespace league::stencil
