// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/staged_kokkos.hpp"
#include "algorithms/blocks/unrolled.hpp"
#include "algorithms/logistic_regression/common/kokkos.hpp"
#include "algorithms/logistic_regression/common/kokkos_sums.hpp"
#include "algorithms/logistic_regression/common/row.hpp"

/// The kernel of a Newton step for more features: a team copies a tile of rows to scratch, and each thread keeps
/// squares of the Hessian in registers.
namespace league::logistic::kokkos_model {

/// `tile`: rows that a team takes at a time, where threads keep squares of the Hessian, `values` of them. Where a lane
/// has all sums, it takes `depth` packs of `width` rows. `sums`: partial sums of a value side by side.
template <class T>
constexpr Numbers newton_numbers = blocks::by_kind({.tile = 256 / int{sizeof(T)},
                                                    .width = 32 / int{sizeof(T)},
                                                    .depth = 1,
                                                    .values = 1,
                                                    .sums = 1,
                                                    .team = 256,
                                                    .teams = 1},
                                                   {.tile = 1024 / int{sizeof(T)},
                                                    .width = 64 / int{sizeof(T)},
                                                    .depth = 16,
                                                    .values = 153,
                                                    .sums = 64 / int{sizeof(T)},
                                                    .team = 1});
constexpr int max_newton_lanes = 256;
constexpr int tile_teams = 2;  ///< of a multiprocessor, in the kernel that takes tiles

/// What the sums of a tile are made of: squares of 4 x 4 products of features on and below the diagonal, row by row;
/// for each 4 features their products with residuals and weights; residuals, weights and losses.
struct Squares {
  static constexpr int side = 4, sums = side * side;
  int features;

  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION int groups() const { return (features + side - 1) / side; }
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION int squares() const { return groups() * (groups() + 1) / 2; }
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION int items() const { return squares() + groups() + 1; }
  /// Where sum `k` of an item lies; -1: nowhere. `row`, `column`: of a square.
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION int place(int item, int row, int column, int k) const {
    if (item < squares()) {
      const int i = row * side + k / side, j = column * side + k % side;
      return i < features && j <= i ? hessian_at(features, i + 1, j + 1) : -1;
    }
    if (item < squares() + groups()) {
      const int i = (item - squares()) * side + k / 2;
      if (k >= 2 * side || i >= features) return -1;
      return k % 2 == 0 ? gradient_at(i + 1) : hessian_at(features, i + 1, 0);
    }
    return k == 0 ? gradient_at(0) : k == 1 ? hessian_at(features, 0, 0) : k == 2 ? 0 : -1;
  }
};

/// A tile of rows, and their residuals, weights and losses in scratch.
template <class T>
class Tile {
  using Values = Kokkos::View<T*, Exec::scratch_memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

 public:
  static constexpr int lanes = newton_numbers<T>.sums, rows = newton_numbers<T>.tile, packs = rows / lanes;
  static constexpr int width = newton_numbers<T>.width;
  using Columns = blocks::StagedColumns<T, rows>;

  static std::size_t bytes(int features) {
    return Columns::bytes(features) + Values::shmem_size(static_cast<std::size_t>(size(features)));
  }

  KOKKOS_FORCEINLINE_FUNCTION Tile(const Member& team, const Rows<T, width>& all)
      : team_(team),
        all_(all),
        x_(team, all.values, all.packs * width, all.features),
        values_(team.team_scratch(0), static_cast<std::size_t>(size(all.features))) {}

  /// Keeps theta in the data's type. @pre the whole team calls
  KOKKOS_FORCEINLINE_FUNCTION void begin(const State& state) const {
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team_, all_.features + 1),
                         [&](int j) { values_(theta + j) = static_cast<T>(state.theta(j)); });
  }
  /// Takes the rows from `first` on, and computes their terms. @pre the whole team calls
  KOKKOS_FORCEINLINE_FUNCTION void load(std::int64_t first) {
    const std::int64_t left = all_.count - first;
    const int here = left < rows ? static_cast<int>(left) : rows;
    packs_here_ = (here + lanes - 1) / lanes;
    team_.team_barrier();
    x_.stage(team_, first, packs_here_ * lanes);
    team_.team_barrier();
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team_, packs_here_),
                         [&](int pack) { set_terms(first, pack * lanes, here); });
    team_.team_barrier();
  }
  /// Adds item `item` over packs `group`, `group` + `groups`, ... of the tile to `sums`; `row`, `column`: of a square.
  KOKKOS_FORCEINLINE_FUNCTION void add(const Squares& squares, int item, int row, int column, int group, int groups,
                                       double (&sums)[Squares::sums][wide<T, lanes>]) const {
    constexpr int side = Squares::side;
    if (item < squares.squares()) {
      const Four x(x_, row), y(x_, column);
      add_products<side, side>(
          group, groups, [&](int k, int r) { return values_(weight + r) * x(k, r); },
          [&](int k, int r) { return y(k, r); }, sums);
    } else if (item < squares.squares() + squares.groups()) {
      const Four x(x_, item - squares.squares());
      add_products<side, 2>(
          group, groups, [&](int k, int r) { return x(k, r); }, [&](int k, int r) { return values_(k * rows + r); },
          sums);
    } else {
      add_products<1, 3>(
          group, groups, [](int, int) { return T{1}; }, [&](int k, int r) { return values_(k * rows + r); }, sums);
    }
  }

 private:
  static constexpr int residual = 0, weight = rows, loss = 2 * rows, theta = 3 * rows;  ///< where they begin
  KOKKOS_FORCEINLINE_FUNCTION static int size(int features) { return theta + features + 1; }

  /// The columns of four features.
  struct Four {
    typename Columns::Column a, b, c, d;
    KOKKOS_FORCEINLINE_FUNCTION Four(const Columns& x, int group)
        : a(x(4 * group)), b(x(4 * group + 1)), c(x(4 * group + 2)), d(x(4 * group + 3)) {}
    KOKKOS_FORCEINLINE_FUNCTION T operator()(int k, int r) const {
      return k == 0 ? a(r) : k == 1 ? b(r) : k == 2 ? c(r) : d(r);
    }
  };

  /// The terms of a pack from row `row` of the tile on, 0 where there is no row.
  KOKKOS_FORCEINLINE_FUNCTION void set_terms(std::int64_t first, int row, int here) const {
    T z[lanes], y[lanes], of_loss[lanes], of_residual[lanes], of_weight[lanes];
    for (int s = 0; s < lanes; ++s) {
      const std::int64_t at = first + (row + s < here ? row + s : here - 1);
      y[s] = static_cast<T>(all_.labels(at / width).values[at % width]);
    }
    for (int s = 0; s < lanes; ++s) z[s] = values_(theta);
    for (int d = 0; d < all_.features; ++d) {
      const auto x = x_(d);
      const T of_column = values_(theta + d + 1);
      LEAGUE_VECTORISED
      for (int s = 0; s < lanes; ++s) z[s] += of_column * x(row + s);
    }
    LEAGUE_VECTORISED
    for (int s = 0; s < lanes; ++s) {
      const RowTerms<T> terms = row_terms(z[s], y[s]);
      of_loss[s] = terms.loss;
      of_residual[s] = terms.residual;
      of_weight[s] = terms.weight;
    }
    LEAGUE_VECTORISED
    for (int s = 0; s < lanes; ++s) {
      values_(residual + row + s) = row + s < here ? of_residual[s] : T{0};
      values_(weight + row + s) = row + s < here ? of_weight[s] : T{0};
      values_(loss + row + s) = row + s < here ? of_loss[s] : T{0};
    }
  }
  /// Adds `left(i, row) right(j, row)` to sum i b + j, for i < a and j < b: up to 16 packs in T.
  template <int a, int b, class Left, class Right>
  KOKKOS_FORCEINLINE_FUNCTION void add_products(int group, int groups, const Left& left, const Right& right,
                                                double (&sums)[Squares::sums][wide<T, lanes>]) const {
    constexpr int run = 16, together = 4;
    for (int begin = group; begin < packs_here_; begin += run * groups) {
      T part[a * b][lanes] = {};
      const int end = begin + run * groups < packs_here_ ? begin + run * groups : packs_here_;
      int pack = begin;
      for (; pack + (together - 1) * groups < end; pack += together * groups)
        add_packs<together, a, b>(pack, groups, left, right, part);
      for (; pack < end; pack += groups) add_packs<1, a, b>(pack, groups, left, right, part);
      for (int q = 0; q < a * b; ++q) widen(part[q], sums[q]);
    }
  }
  /// Packs `pack`, `pack` + `groups`, ..., `count` of them: within a vectorised loop all is unrolled.
  template <int count, int a, int b, class Left, class Right>
  KOKKOS_FORCEINLINE_FUNCTION static void add_packs(int pack, int groups, const Left& left, const Right& right,
                                                    T (&part)[a * b][lanes]) {
    LEAGUE_VECTORISED
    for (int s = 0; s < lanes; ++s) {
      T sums[a * b];
      for (int q = 0; q < a * b; ++q) sums[q] = part[q][s];
      add_rows<0, count, a, b>(pack * lanes + s, groups * lanes, left, right, sums);
      for (int q = 0; q < a * b; ++q) part[q][s] = sums[q];
    }
  }

  template <int n, int count, int a, int b, class Left, class Right>
  KOKKOS_FORCEINLINE_FUNCTION static void add_rows(int row, int stride, const Left& left, const Right& right,
                                                   T (&sums)[a * b]) {
    if constexpr (n < count) {
      T x[a], y[b];
      for (int i = 0; i < a; ++i) x[i] = left(i, row + n * stride);
      for (int j = 0; j < b; ++j) y[j] = right(j, row + n * stride);
      for (int i = 0; i < a; ++i)
        for (int j = 0; j < b; ++j) sums[i * b + j] += x[i] * y[j];
      add_rows<n + 1, count, a, b>(row, stride, left, right, sums);
    }
  }

  const Member& team_;
  const Rows<T, width>& all_;
  Columns x_;
  Values values_;
  int packs_here_ = 0;
};

// Every team leaves its sums in `partials` [sums x (teams x groups)].
template <class T>
void add_tiles(Queue& queue, const Exec& exec, Launch launch, int groups, const Rows<T, Tile<T>::width>& rows,
               const State& state, const Vector<double>& partials) {
  using Bounds = Kokkos::LaunchBounds<max_newton_lanes, kokkos::launch_bound(tile_teams)>;
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::IndexType<std::int64_t>, Bounds>;
  constexpr int held = newton_numbers<T>.values;
  const int threads = launch.team;
  kokkos::submit(
      queue, "logistic_regression/newton",
      Policy(exec, launch.league, launch.team, 1).set_scratch_size(0, Kokkos::PerTeam(Tile<T>::bytes(rows.features))),
      KOKKOS_LAMBDA(const Member& team) {
        if (state.stopped()) return;
        const Squares squares{rows.features};
        const int thread = blocks::rank(team), items = squares.items(), teams = team.league_size();
        Tile<T> tile(team, rows);
        // Calls `body(of_thread, item, row, column, group)` for what this thread has.
        const auto for_items = [&](const auto& body) {
          for (int h = 0; h < held; ++h) {
            const int at = thread + h * threads;
            if (at >= items * groups) break;
            const int item = at % items;
            int row = 0;
            while ((row + 1) * (row + 2) / 2 <= item) ++row;
            body(h, item, row, item - row * (row + 1) / 2, at / items);
          }
        };
        double sums[held][Squares::sums][wide<T, Tile<T>::lanes>] = {};
        tile.begin(state);
        const auto mine = blocks::share(std::int64_t{team.league_rank()}, std::int64_t{teams},
                                        (rows.count + Tile<T>::rows - 1) / Tile<T>::rows);
        for (std::int64_t t = mine.first; t < mine.end; t += mine.stride) {
          tile.load(t * Tile<T>::rows);
          for_items([&](int h, int item, int row, int column, int group) {
            tile.add(squares, item, row, column, group, groups, sums[h]);
          });
        }
        for_items([&](int h, int item, int row, int column, int group) {
          blocks::unrolled<Squares::sums>([&](int k) {
            const int place = squares.place(item, row, column, k);
            const std::int64_t slot = std::int64_t{team.league_rank()} * groups + group;
            if (place >= 0) partials(std::int64_t{place} * teams * groups + slot) = narrowed(sums[h][k]);
          });
        });
      });
}

}  // namespace league::logistic::kokkos_model
