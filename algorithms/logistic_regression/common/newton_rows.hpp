// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/logistic_regression/common/newton_step.hpp"
#include "algorithms/logistic_regression/common/pack_rows.hpp"

/// A GPU thread's sums for a Newton step, the same in every model. Up to 8 features, a thread has all sums of its rows;
/// beyond, a team shares a tile of rows in scratch, and a thread has a square of the Hessian.
namespace league::logistic {

inline constexpr int max_features_per_thread = 8;

/// Number of sums of a thread: gradient, then Hessian, for features rounded up.
template <int features>
inline constexpr int newton_values = gradient_sums(features) + triangle(features + 1);

/// Index of a thread's sum `i` among the sums of the data's features; -1 for a padding feature.
template <int rounded>
LEAGUE_FUNCTION int newton_place(int i, int features) {
  constexpr int gradient = gradient_sums(rounded);
  if (i < gradient) return i < gradient_sums(features) ? i : -1;
  return i - gradient < triangle(features + 1) ? gradient_sums(features) + i - gradient : -1;
}

/// Resident teams per multiprocessor, by register use.
template <int features>
inline constexpr int newton_teams = features <= 2   ? 3
                                    : features <= 4 ? 2
                                                    : 1;

/// Packs of rows that a thread takes at a time: their products are added before they go into a compensated sum, and
/// the loads of all are under way together.
inline constexpr int newton_packs = 2;

/// Adds loss, gradient and Hessian of the packs `pack`, `pack + stride`, ...; `whole`: all their rows are there.
template <bool whole, class T, int features>
LEAGUE_FUNCTION void add_packs(const Rows<T>& all, std::int64_t pack, std::int64_t stride, const T* weights,
                               ThreadSum<T> (&sums)[newton_values<features>]) {
  using Packs = Neighbours<T, features, whole>;
  static_assert(newton_packs == 2);
  constexpr int rows = newton_packs * Packs::rows;
  const Packs mine[newton_packs] = {{all, pack, 0}, {all, pack + stride, 0}};
  SharedLoss<T> loss;
  T residual[rows], weight[rows];
  unrolled<newton_packs>([&](int p) {
    const auto z = mine[p].logits(weights + 1);
    unrolled<Packs::rows>([&](int r) {
      const SharedTerms<T> terms = mine[p].terms(r, z.values[r] + weights[0]);
      residual[p * Packs::rows + r] = terms.residual;
      weight[p * Packs::rows + r] = terms.weight;
      loss.add(terms);
    });
  });
  sums[0].add(loss.value());
  const auto value = [&](int j, int r) {
    return j == 0 ? T{1} : mine[r / Packs::rows].x[j > 0 ? j - 1 : 0].values[r % Packs::rows];
  };
  unrolled<features + 1>([&](int j) {
    T part = 0, weighted[rows];
    unrolled<rows>([&](int r) {
      part += residual[r] * value(j, r);
      weighted[r] = weight[r] * value(j, r);
    });
    sums[1 + j].add(part);
    unrolled<features + 1>([&](int k) {
      if (k > j) return;
      T product = 0;
      unrolled<rows>([&](int r) { product += weighted[r] * value(k, r); });
      sums[gradient_sums(features) + triangle(j) + k].add(product);
    });
  });
}

/// The same, of packs that may lack rows. For 8 features there is one version: two would spill registers.
template <class T, int features>
LEAGUE_FUNCTION void add_hessian(const Rows<T>& all, std::int64_t pack, std::int64_t stride, const T* weights,
                                 ThreadSum<T> (&sums)[newton_values<features>]) {
  const auto add = [&]<bool whole>() { add_packs<whole, T, features>(all, pack, stride, weights, sums); };
  if constexpr (features < max_features_per_thread)
    with_whole(all, pack + (newton_packs - 1) * stride, add);
  else
    add.template operator()<false>();
}

/// A tile of rows in scratch: features [4 x squares x (rows + 1)] with the intercept's ones first, then residuals and
/// weights.
template <class T>
struct Tile {
  static constexpr int rows = 256 / static_cast<int>(sizeof(T)), pitch = rows + 1, side = 4;
  T* x;
  T* residual;
  T* weight;
  int squares;  ///< squares of the Hessian per side

  LEAGUE_FUNCTION static constexpr int squares_of(int features) { return (features + side) / side; }
  /// Size in values of the data's type.
  LEAGUE_FUNCTION static constexpr int size(int features) { return side * squares_of(features) * pitch + 2 * rows; }
  /// Minimum team size: one thread per square on or below the diagonal, and per component of the gradient.
  LEAGUE_FUNCTION static constexpr int threads(int features) {
    return triangle(squares_of(features)) > features + 1 ? triangle(squares_of(features)) : features + 1;
  }
  /// Number of groups of threads with the same squares, each with its own rows.
  LEAGUE_FUNCTION static constexpr int groups(int features, int threads) {
    const int fit = threads / triangle(squares_of(features));
    return fit < rows / 4 ? fit : rows / 4;
  }
  LEAGUE_FUNCTION Tile(T* scratch, int features)
      : x(scratch),
        residual(scratch + side * squares_of(features) * pitch),
        weight(residual + rows),
        squares(squares_of(features)) {}

  /// Loads the rows from `first` on; 0 beyond the end.
  template <class Barrier>
  LEAGUE_FUNCTION void load(const Group<Barrier>& team, const Rows<T>& all, std::int64_t first) const {
    team.barrier();
    for (int item = team.rank; item < side * squares * rows; item += team.size) {
      const int j = item / rows, r = item % rows;
      const bool is_row = first + r < all.count;
      x[j * pitch + r] = !is_row || j > all.features ? T{0}
                         : j == 0                    ? T{1}
                                                     : all.columns[(j - 1) * all.pitch + first + r];
    }
    team.barrier();
  }
  /// Computes residual and weight of each row; adds the loss of this thread's rows.
  template <class Barrier>
  LEAGUE_FUNCTION void finish_rows(const Group<Barrier>& team, const Rows<T>& all, std::int64_t first,
                                   const double* theta, ThreadSum<T>& loss) const {
    for (int r = team.rank; r < rows; r += team.size) {
      const bool is_row = first + r < all.count;
      T z = 0;
      for (int j = 0; j <= all.features; ++j) z += static_cast<T>(theta[j]) * x[j * pitch + r];
      const RowTerms<T> terms = row_terms(z, static_cast<T>(is_row ? all.labels[first + r] : 0));
      residual[r] = is_row ? terms.residual : T{0};
      weight[r] = is_row ? terms.weight : T{0};
      loss.add(is_row ? terms.loss : T{0});
    }
    team.barrier();
  }
  /// Adds this thread's square over its group's rows, up to 16 rows in the data's type.
  LEAGUE_FUNCTION void add_square(int row, int column, int group, int of_groups,
                                  ThreadSum<T> (&sums)[side * side]) const {
    for (int begin = group; begin < rows; begin += 16 * of_groups) {
      T part[side * side] = {};
      const int end = begin + 16 * of_groups < rows ? begin + 16 * of_groups : rows;
      for (int r = begin; r < end; r += of_groups) {
        T left[side], right[side];
        unrolled<side>([&](int k) {
          left[k] = weight[r] * x[(side * row + k) * pitch + r];
          right[k] = x[(side * column + k) * pitch + r];
        });
        unrolled<side * side>([&](int k) { part[k] += left[k / side] * right[k % side]; });
      }
      unrolled<side * side>([&](int k) { sums[k].add(part[k]); });
    }
  }
  /// Adds the tile's part of component `j` of the gradient.
  LEAGUE_FUNCTION void add_gradient(int j, ThreadSum<T>& sum) const {
    for (int begin = 0; begin < rows; begin += 16) {
      T part = 0;
      for (int r = begin; r < begin + 16; ++r) part += residual[r] * x[j * pitch + r];
      sum.add(part);
    }
  }
};

/// Row and column of square `square`, counted along the rows of a lower triangle.
struct Square {
  int row = 0, column = 0;
  LEAGUE_FUNCTION explicit Square(int square) {
    while (triangle(row + 1) <= square) ++row;
    column = square - triangle(row);
  }
};

/// A thread's work on all tiles of its team, `teams` tiles apart: its sums go to `partials` [sums x (teams x groups)].
template <class T, class Barrier>
LEAGUE_FUNCTION void add_tiles(const Group<Barrier>& team, const Rows<T>& rows, const double* theta, std::int64_t rank,
                               std::int64_t teams, double* scratch, double* partials) {
  constexpr int side = Tile<T>::side;
  const int features = rows.features, squares = triangle(Tile<T>::squares_of(features));
  const int groups = Tile<T>::groups(features, team.size), group = team.rank / squares;
  const Tile<T> tile(reinterpret_cast<T*>(scratch), features);
  const Square mine(team.rank % squares);
  ThreadSum<T> sums[side * side], gradient, loss;
  for (std::int64_t first = rank * Tile<T>::rows; first < rows.count; first += teams * Tile<T>::rows) {
    tile.load(team, rows, first);
    tile.finish_rows(team, rows, first, theta, loss);
    if (group < groups) tile.add_square(mine.row, mine.column, group, groups, sums);
    if (team.rank <= features) tile.add_gradient(team.rank, gradient);
  }
  const std::int64_t pitch = teams * groups;
  const auto put = [&](int i, int of_group, double sum) { partials[i * pitch + rank * groups + of_group] = sum; };
  if (group < groups)
    unrolled<side * side>([&](int k) {
      const int i = side * mine.row + k / side, j = side * mine.column + k % side;
      if (j <= i && i <= features) put(gradient_sums(features) + triangle(i) + j, group, sums[k].value());
    });
  if (team.rank <= features)
    for (int g = 0; g < groups; ++g) put(1 + team.rank, g, g == 0 ? gradient.value() : 0.0);
  team_sums<1>(
      team, [&](int) { return loss.value(); }, scratch,
      [&](int, int, double sum) {
        for (int g = 0; g < groups; ++g) put(0, g, g == 0 ? sum : 0.0);
      });
}

/// Scratch of `add_tiles`, in doubles.
template <class T>
LEAGUE_FUNCTION constexpr int tiles_scratch(int features, int threads) {
  const int tile = (Tile<T>::size(features) * static_cast<int>(sizeof(T)) + 7) / 8, sums = scratch_size(1, threads);
  return tile > sums ? tile : sums;
}

/// Number of groups of threads that share a tile. @throws Unsupported if the team is too small
template <class T>
int tile_groups(int features, int threads, const char* team) {
  if (const int min_threads = Tile<T>::threads(features); threads < min_threads)
    throw Unsupported("newton with " + std::to_string(features) + " features takes " + std::to_string(min_threads) +
                      " threads per " + team + ", not " + std::to_string(threads));
  return Tile<T>::groups(features, threads);
}

/// Calls `body.template operator()<D>()` with the feature count of a thread.
template <class Body>
auto with_few_features(int features, const Body& body) {
  if (features <= 2) return body.template operator()<2>();
  if (features <= 4) return body.template operator()<4>();
  return body.template operator()<8>();
}

/// The launch of either kernel: `resolve(teams, rows)`, for so many teams per multiprocessor, and `rows(threads)` that
/// a team takes at once.
template <class T, class Resolve>
Launch newton_launch(int features, bool in_threads, const Resolve& resolve) {
  if (!in_threads) return resolve(2, [](int) { return Tile<T>::rows; });
  return with_few_features(features, [&]<int few>() {
    return resolve(newton_teams<few>, [](int threads) { return newton_packs * rows_at_once<T> * threads; });
  });
}

}  // namespace league::logistic
