// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include "algorithms/blocks/share_kokkos.hpp"

namespace league::blocks {

/// A system with a symmetric positive definite matrix, in the scratch memory of a team that solves it: the upper
/// triangle row by row, each row followed by its right side.
class ScratchSystem {
  using Member = kokkos::Member;
  using Values = Kokkos::View<double*, kokkos::Exec::scratch_memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

 public:
  /// Of scratch memory of level 0, for `n` unknowns.
  static std::size_t bytes(int n) { return Values::shmem_size(static_cast<std::size_t>(size(n))); }

  KOKKOS_FORCEINLINE_FUNCTION ScratchSystem(const Member& team, int n)
      : team_(team), n_(n), values_(team.team_scratch(0), static_cast<std::size_t>(size(n))) {}

  /// Sets row i to `element(i, j)`: column j >= i of the matrix, or, for j = n, the right side. @pre the whole team
  /// calls
  template <class Element>
  KOKKOS_INLINE_FUNCTION void fill(const Element& element) const {
    for_triangle(0, [&](int i, int j) { at(i, j) = element(i, j); });
  }
  /// Eliminates without pivoting, then calls `put(i, x_i)`, each by one lane. A pivot that is not above `least(i)`
  /// gives NaN. @pre the whole team calls
  template <class Least, class Put>
  KOKKOS_INLINE_FUNCTION void solve(const Least& least, const Put& put) const {
    const auto inverse = [&](int k) {
      const double pivot = at(k, k);
      return pivot > least(k) ? 1 / pivot : Kokkos::Experimental::quiet_NaN_v<double>;
    };
    for (int k = 0; k < n_; ++k) {
      team_.team_barrier();
      const double factor = inverse(k);
      for_triangle(k + 1, [&](int i, int j) { at(i, j) -= at(k, i) * factor * at(k, j); });
    }
    for (int k = n_ - 1; k >= 0; --k) {
      team_.team_barrier();
      const double x = at(k, n_) * inverse(k);
      Kokkos::parallel_for(Kokkos::TeamVectorRange(team_, k + 1), [&](int i) {
        if (i < k)
          at(i, n_) -= at(i, k) * x;
        else
          put(k, x);
      });
    }
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION static int size(int n) { return n * (n + 3) / 2; }
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION double& at(int i, int j) const {
    return values_(i * (n_ + 1) - i * (i - 1) / 2 + j - i);
  }
  /// Calls `body(i, j)` for the rows from `first` on, each from its diagonal to its right side.
  template <class Body>
  KOKKOS_FORCEINLINE_FUNCTION void for_triangle(int first, const Body& body) const {
    const int rows = n_ - first;
    int row_bits = 0;
    while (1 << row_bits <= rows) ++row_bits;
    for_cells(team_, rows, rows + 1, row_bits, [&](int row, int column) {
      if (column >= row) body(first + row, first + column);
    });
  }

  const Member& team_;
  int n_;
  Values values_;
};

}  // namespace league::blocks
