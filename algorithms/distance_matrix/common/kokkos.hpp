// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/numbers_kokkos.hpp"
#include "algorithms/blocks/packs_kokkos.hpp"
#include "algorithms/blocks/share_kokkos.hpp"
#include "algorithms/blocks/vectorised.hpp"
#include "algorithms/distance_matrix/common/shard.hpp"

/// What the distances written once share.
namespace league::distance_matrix::kokkos_model {

using blocks::Numbers, kokkos::Exec, kokkos::Vector;

/// The rows of a block of the matrix, stored in packs of `width` neighbouring distances of a row; mirror images in
/// packs of `height`.
template <class T, int width, int height = width>
struct Distances {
  Distances(const Vector<T>& out, std::int64_t n_, Range range, bool roots_)
      : values(out),
        packs(blocks::packs<width>(out)),
        mirrored(blocks::packs<height>(out)),
        n(static_cast<int>(n_)),
        first(static_cast<int>(range.begin)),
        end(static_cast<int>(range.end)),
        roots(roots_) {}

  /// Stores squared distances, or their roots, of row `row` from column `column` on, up to the last column.
  template <class Pack>
  KOKKOS_FORCEINLINE_FUNCTION void store(int row, int column, Pack squared) const {
    store_in(packs, row, column, squared);
  }
  template <class Pack>
  KOKKOS_FORCEINLINE_FUNCTION void store_mirrored(int row, int column, Pack squared) const {
    store_in(mirrored, row, column, squared);
  }

  Vector<T> values;  ///< [end - first][n]
  blocks::Packs<T, width> packs;
  blocks::Packs<T, height> mirrored;
  int n, first, end;
  bool roots;

 private:
  template <class Packs, class Pack>
  KOKKOS_FORCEINLINE_FUNCTION void store_in(const Packs& to, int row, int column, Pack squared) const {
    constexpr int size = Pack::size;
    if (roots) {
      LEAGUE_VECTORISED
      for (int k = 0; k < size; ++k) squared.values[k] = Kokkos::sqrt(squared.values[k]);
    }
    const std::int64_t at = std::int64_t{row - first} * n + column;
    if (n % size == 0) {
      if (column < n) to(at / size) = squared;
    } else if (column + size <= n) {
      for (int k = 0; k < size; ++k) values(at + k) = squared.values[k];
    } else {
      for (int k = 0; k < size; ++k)
        if (column + k < n) values(at + k) = squared.values[k];
    }
  }
};

}  // namespace league::distance_matrix::kokkos_model
