// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <limits>

#include "algorithms/blocks/group.hpp"
#include "algorithms/blocks/unrolled.hpp"

/// A small system of linear equations with a symmetric positive definite matrix, solved by one team.
namespace league::blocks {

/// Threads per side of the square that solves: on GPUs, on hosts.
inline constexpr int device_solve_side = 16, host_solve_side = 1;

/// Doubles of scratch for a system of n equations: two lines, padded to whole blocks.
template <int side>
LEAGUE_FUNCTION constexpr int definite_scratch(int n) {
  return 2 * (n + side);
}

/// Gauss-Jordan elimination without pivoting: step k eliminates column k in the rows below, as L D L^T does, and in
/// those above, so that no substitution follows. The rows below stay symmetric: only the upper triangle is kept, with
/// the right-hand side as column n. It lies in registers: thread (r, c) of side x side has the elements
/// (r + side * s, c + side * t). A step takes one barrier, after row and column k have been written to scratch.
/// `max_blocks`: of side columns; for several threads their number
template <int side, int max_blocks>
class DefiniteSystem {
 public:
  LEAGUE_FUNCTION DefiniteSystem(int n, int rank) : n_(n), row_(rank / side), column_(rank % side) {}

  [[nodiscard]] LEAGUE_FUNCTION int blocks() const { return side > 1 ? max_blocks : n_ + 1; }
  /// Calls `body` with first ... last - 1; for several threads unrolled, so that registers have constant indices.
  template <class Body>
  LEAGUE_FUNCTION static void each(int first, int last, const Body& body) {
    if constexpr (side > 1)
      unrolled<max_blocks>([&](int i) {
        if (i >= first && i < last) body(i);
      });
    else
      for (int i = first; i < last; ++i) body(i);
  }

  /// Loads the elements; a pivot must exceed `tolerance` times the diagonal's element.
  template <class Matrix, class Right>
  LEAGUE_FUNCTION void load(const Matrix& matrix, const Right& right, double tolerance) {
    each_element(0, [&](int s, int t) {
      const int j = column(t) < n_ ? column(t) : n_ - 1, i = row(s) < j ? row(s) : j;
      element_[s][t] = matrix(i, j);  // also where there is none: without branches the loads overlap
    });
    const int last = blocks() - 1;
    each(0, blocks(), [&](int s) {
      const double value = right(row(s) < n_ ? row(s) : n_ - 1);
      if (column(last) == n_) element_[s][last] = value;
    });
    each(0, blocks(), [&](int s) { smallest_[s] = tolerance * element_[s][s]; });
  }
  /// Writes to `line` [n + 1, padded to whole blocks] the elements above and beside the diagonal's element
  /// k = side * block + number, and its inverse.
  LEAGUE_FUNCTION void write(int block, int number, double* line) const {
    if (column_ == number)
      each(0, block + 1, [&](int s) {
        if (s < block || row_ < number) line[row(s)] = element_[s][block];
      });
    if (row_ == number)
      each(block, blocks(), [&](int t) {
        if (t > block || column_ > number) line[column(t)] = element_[block][t];
      });
    if (row_ == number && column_ == number) {
      const double pivot = element_[block][block], inverse = 1 / pivot;
      line[row(block)] = pivot > smallest_[block] ? inverse : nan;
    }
  }
  /// Subtracts the multiples of row k that make column k zero.
  LEAGUE_FUNCTION void eliminate(int block, int number, const double* line) {
    const double inverse = line[side * block + number];
    double factor[max_blocks];
    each(0, blocks(), [&](int s) { factor[s] = line[row(s)] * inverse; });
    if (row_ == number) factor[block] = 0, inverse_[block] = inverse;
    each_element(block, [&](int s, int t) { element_[s][t] -= factor[s] * line[column(t)]; });
  }
  /// Calls `put(i, x_i)` for this thread's components of the solution.
  template <class Put>
  LEAGUE_FUNCTION void solution(const Put& put) const {
    const int last = blocks() - 1;
    each(0, blocks(), [&](int s) {
      if (column(last) == n_ && row(s) < n_) put(row(s), element_[s][last] * inverse_[s]);
    });
  }

 private:
  static constexpr double nan = std::numeric_limits<double>::quiet_NaN();  // nvcc makes of 0.0 / 0.0 a call

  [[nodiscard]] LEAGUE_FUNCTION int row(int s) const { return row_ + side * s; }
  [[nodiscard]] LEAGUE_FUNCTION int column(int t) const { return column_ + side * t; }
  /// Calls `body(s, t)` for the elements of the columns from block `first` on.
  template <class Body>
  LEAGUE_FUNCTION void each_element(int first, const Body& body) const {
    each(0, blocks(), [&](int s) { each(s > first ? s : first, blocks(), [&](int t) { body(s, t); }); });
  }

  int n_, row_, column_;
  double element_[max_blocks][max_blocks], smallest_[max_blocks], inverse_[max_blocks];
};

/// Solves A x = b for n <= max_n: `matrix(i, j)` is A_ij with i <= j, `right(i)` is b_i; calls `put(i, x_i)`, each by
/// one thread, after all threads have made their calls of `matrix` and `right`. A pivot that is not above `tolerance`
/// A_kk makes all of x NaN. `scratch`: definite_scratch<side>(n). @pre the team has side * side threads; all call, and
/// none uses the scratch otherwise
template <int side, int max_n, int blocks = side == 1 ? max_n + 1 : 1, class Barrier, class Matrix, class Right,
          class Put>
LEAGUE_FUNCTION void solve_definite(const Group<Barrier>& team, int n, double tolerance, const Matrix& matrix,
                                    const Right& right, double* scratch, const Put& put) {
  if constexpr (side * blocks <= max_n)  // the number of blocks becomes a constant
    if (side * blocks <= n) {
      solve_definite<side, max_n, blocks + 1>(team, n, tolerance, matrix, right, scratch, put);
      return;
    }
  using System = DefiniteSystem<side, blocks>;
  double *line = scratch, *other = scratch + n + side;  // the other one is still read
  System system(n, team.rank);
  system.load(matrix, right, tolerance);
  System::each(0, system.blocks(), [&](int block) {
    for (int number = 0; number < side && side * block + number < n; ++number) {
      system.write(block, number, line);
      team.barrier();
      system.eliminate(block, number, line);
      double* const read = line;
      line = other, other = read;
    }
  });
  system.solution(put);
}

}  // namespace league::blocks
