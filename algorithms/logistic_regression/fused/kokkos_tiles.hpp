// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/staged_kokkos.hpp"
#include "algorithms/logistic_regression/common/kokkos.hpp"
#include "algorithms/logistic_regression/common/kokkos_sums.hpp"
#include "algorithms/logistic_regression/common/row.hpp"

/// The kernel of a gradient step for more features than a lane has registers for: a team takes a tile of rows at a
/// time, and its lanes share first the rows, then the features.
namespace league::logistic::kokkos_model {

/// `tile`: rows of a team, in packs of `width`. A lane computes the logits of `values` packs, the terms of `rows` rows,
/// and adds `depth` packs side by side.
template <class T>
constexpr Numbers tile_numbers = blocks::by_kind({.tile = 512 / int{sizeof(T)},
                                                  .width = 16 / int{sizeof(T)},
                                                  .rows = 1,
                                                  .depth = 1,
                                                  .values = 1,
                                                  .team = 256,
                                                  .teams = 4},
                                                 {.tile = 4096 / int{sizeof(T)},
                                                  .width = 64 / int{sizeof(T)},
                                                  .rows = 64 / int{sizeof(T)},
                                                  .depth = 4,
                                                  .values = 8,
                                                  .team = 1});
constexpr int max_tile_lanes = 256;  ///< of a launch that asks for other teams

/// The sums of a team, in scratch, over tiles of rows.
template <class T>
class TileSums {
  static constexpr Numbers numbers = tile_numbers<T>;
  static constexpr int width = numbers.width, packs = numbers.tile / width, depth = numbers.depth;
  static constexpr int at_once = numbers.values, groups = packs / at_once, some = numbers.rows;
  static_assert(packs % at_once == 0 && width % some == 0);
  using Pack = blocks::PackOf<T, width>;
  using Columns = blocks::StagedColumns<Pack, packs>;
  template <class Value>
  using Scratch = Kokkos::View<Value*, Exec::scratch_memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

 public:
  static constexpr int rows = numbers.tile;

  /// Of scratch memory of level 0.
  static std::size_t bytes(int features, int lanes) {
    return Columns::bytes(features) + blocks::scratch_bytes<Pack>(packs_of(lanes)) +
           Scratch<T>::shmem_size(static_cast<std::size_t>(features) + 1) +
           Scratch<double>::shmem_size(sums_of(features, lanes));
  }

  KOKKOS_FORCEINLINE_FUNCTION TileSums(const Member& team, int lanes, const Rows<T, width>& all)
      : team_(team),
        all_(all),
        parts_(parts_of(lanes, groups)),
        shares_(parts_of(lanes, all.features + 2)),
        x_(team, all.columns, all.packs, all.features),
        packs_(blocks::scratch_of<Pack>(team, packs_of(lanes)), packs_of(lanes)),
        theta_(team.team_scratch(0), static_cast<std::size_t>(all.features) + 1),
        sums_(team.team_scratch(0), sums_of(all.features, lanes)) {}

  /// @pre the whole team calls, as for all below
  KOKKOS_FORCEINLINE_FUNCTION void begin(const State& state) const {
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team_, all_.features + 1),
                         [&](int j) { theta_(j) = static_cast<T>(state.theta(j)); });
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team_, static_cast<int>(sums_.extent(0))),
                         [&](int i) { sums_(i) = 0; });
  }
  /// Adds the rows of the packs from `first` on.
  KOKKOS_FORCEINLINE_FUNCTION void add(std::int64_t first) {
    const std::int64_t left = all_.packs - first;
    const int here = left < packs ? static_cast<int>(left) : packs;
    team_.team_barrier();
    x_.stage(team_, first, here);
    team_.team_barrier();
    const int groups_here = (here + at_once - 1) / at_once;
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team_, parts_ * groups_here),
                         [&](int item) { set_logits(item / groups_here, item % groups_here * at_once, here); });
    team_.team_barrier();
    const std::int64_t rest = all_.count - first * width;
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team_, here * width / some),
                         [&](int item) { set_terms(first, item * some, rest < rows ? static_cast<int>(rest) : rows); });
    team_.team_barrier();
    const int columns = all_.features + 2;
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team_, shares_ * columns), [&](int item) {
      const int column = item % columns, share = item / columns;
      if (column < all_.features)
        add_packs(item, share, here, Products{packs_, x_(column)});
      else
        add_packs(item, share, here, Values{packs_, column == all_.features ? 0 : packs});
    });
  }
  /// Calls `put(i, sum)` for the loss, then the gradient.
  template <class Put>
  KOKKOS_FORCEINLINE_FUNCTION void leave(const Put& put) const {
    const int columns = all_.features + 2;
    team_.team_barrier();
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team_, columns), [&](int column) {
      double sum = 0;
      for (int share = 0; share < shares_; ++share) sum += sums_(share * columns + column);
      put(column < all_.features ? gradient_at(column + 1) : column == all_.features ? gradient_at(0) : 0, sum);
    });
  }

 private:
  /// How many lanes share each of `items`.
  KOKKOS_FORCEINLINE_FUNCTION static int parts_of(int lanes, int items) { return lanes > items ? lanes / items : 1; }
  /// Logits of the parts, of which the first become residuals and the second losses.
  KOKKOS_FORCEINLINE_FUNCTION static std::size_t packs_of(int lanes) {
    const int parts = parts_of(lanes, groups);
    return static_cast<std::size_t>(packs * (parts > 2 ? parts : 2));
  }
  KOKKOS_FORCEINLINE_FUNCTION static std::size_t sums_of(int features, int lanes) {
    return static_cast<std::size_t>(parts_of(lanes, features + 2) * (features + 2));
  }

  /// The logits of `at_once` packs from `first` on, from every `parts_`-th feature.
  KOKKOS_FORCEINLINE_FUNCTION void set_logits(int part, int first, int here) const {
    T z[at_once][width];
    for (int n = 0; n < at_once; ++n)
      for (int k = 0; k < width; ++k) z[n][k] = part == 0 ? theta_(0) : T{0};
    for (int d = part; d < all_.features; d += parts_) {
      const T weight = theta_(d + 1);
      const auto x = x_(d);
      for (int n = 0; n < at_once; ++n) {
        const blocks::LoadedPack<T, width> of_pack = x(first + n < here ? first + n : here - 1);
        LEAGUE_VECTORISED
        for (int k = 0; k < width; ++k) z[n][k] += weight * of_pack.values[k];
      }
    }
    for (int n = 0; n < at_once; ++n)
      for (int k = 0; k < width; ++k) packs_(part * packs + first + n).values[k] = z[n][k];
  }
  /// Residuals and losses of some rows from `row` on, 0 where there is no row.
  KOKKOS_FORCEINLINE_FUNCTION void set_terms(std::int64_t first, int row, int here) const {
    const int pack = row / width, at = row % width;
    T z[some], y[some], loss[some], residual[some];
    int label[some];
    for (int s = 0; s < some; ++s) z[s] = packs_(pack).values[at + s];
    for (int part = 1; part < parts_; ++part)
      for (int s = 0; s < some; ++s) z[s] += packs_(part * packs + pack).values[at + s];
    LEAGUE_VECTORISED
    for (int s = 0; s < some; ++s) label[s] = all_.labels(first + pack).values[at + s];
    LEAGUE_VECTORISED
    for (int s = 0; s < some; ++s) y[s] = static_cast<T>(label[s]);
    LEAGUE_VECTORISED
    for (int s = 0; s < some; ++s) {
      const RowTerms<T> terms = row_terms(z[s], y[s]);
      residual[s] = terms.residual;
      loss[s] = terms.loss;
    }
    LEAGUE_VECTORISED
    for (int s = 0; s < some; ++s) {
      residual[s] = row + s < here ? residual[s] : T{0};
      loss[s] = row + s < here ? loss[s] : T{0};
    }
    for (int s = 0; s < some; ++s) {
      packs_(pack).values[at + s] = residual[s];
      packs_(packs + pack).values[at + s] = loss[s];
    }
  }
  /// Adds to sum `item` what `add(pack, sums)` adds for every `shares_`-th pack of the tile: up to 16 packs in T.
  template <class Add>
  KOKKOS_FORCEINLINE_FUNCTION void add_packs(int item, int share, int here, const Add& add) const {
    constexpr int run = 16;
    double total[wide<T, width>] = {};
    for (int begin = share; begin < here; begin += run * shares_) {
      T part[depth][width] = {};
      const int end = begin + run * shares_ < here ? begin + run * shares_ : here;
      int pack = begin;
      for (; pack + (depth - 1) * shares_ < end; pack += depth * shares_) add_some<0>(pack, add, part);
      for (; pack < end; pack += shares_) add(pack, part[0]);
      for (int n = 1; n < depth; ++n) {
        LEAGUE_VECTORISED
        for (int k = 0; k < width; ++k) part[0][k] += part[n][k];
      }
      widen(part[0], total);
    }
    sums_(item) += narrowed(total);
  }
  template <int n, class Add>
  KOKKOS_FORCEINLINE_FUNCTION void add_some(int pack, const Add& add, T (&part)[depth][width]) const {
    if constexpr (n < depth) {
      add(pack + n * shares_, part[n]);
      add_some<n + 1>(pack, add, part);
    }
  }
  /// The products of residuals and a column; the values of packs that begin at `from`.
  struct Products {
    const Scratch<Pack>& residuals;
    typename Columns::Column x;
    KOKKOS_FORCEINLINE_FUNCTION void operator()(int pack, T (&sums)[width]) const {
      const blocks::LoadedPack<T, width> a = residuals(pack), b = x(pack);
      LEAGUE_VECTORISED
      for (int k = 0; k < width; ++k) sums[k] += a.values[k] * b.values[k];
    }
  };
  struct Values {
    const Scratch<Pack>& packs;
    int from;
    KOKKOS_FORCEINLINE_FUNCTION void operator()(int pack, T (&sums)[width]) const {
      const blocks::LoadedPack<T, width> a = packs(from + pack);
      LEAGUE_VECTORISED
      for (int k = 0; k < width; ++k) sums[k] += a.values[k];
    }
  };

  const Member& team_;
  const Rows<T, width>& all_;
  int parts_;   ///< lanes that share the features of a pack
  int shares_;  ///< lanes that share the rows of a feature
  Columns x_;
  Scratch<Pack> packs_;
  Scratch<T> theta_;
  Scratch<double> sums_;
};

// Every team leaves its sums in `partials` [sums x teams].
template <class T>
void add_tiles(Queue& queue, const Exec& exec, Launch launch, const Rows<T, tile_numbers<T>.width>& rows,
               const State& state, const Vector<double>& partials) {
  using Bounds = Kokkos::LaunchBounds<max_tile_lanes, kokkos::launch_bound(tile_numbers<T>.teams)>;
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::IndexType<std::int64_t>, Bounds>;
  const int lanes = launch.team * launch.vector;
  kokkos::submit(
      queue, "logistic_regression/fused",
      Policy(exec, launch.league, launch.team, launch.vector)
          .set_scratch_size(0, Kokkos::PerTeam(TileSums<T>::bytes(rows.features, lanes))),
      KOKKOS_LAMBDA(const Member& team) {
        if (state.stopped()) return;
        constexpr int packs = TileSums<T>::rows / tile_numbers<T>.width;
        TileSums<T> sums(team, lanes, rows);
        sums.begin(state);
        const auto mine = blocks::share(std::int64_t{team.league_rank()}, std::int64_t{team.league_size()},
                                        (rows.packs + packs - 1) / packs);
        for (std::int64_t tile = mine.first; tile < mine.end; tile += mine.stride) sums.add(tile * packs);
        sums.leave(
            [&](int i, double sum) { partials(std::int64_t{i} * team.league_size() + team.league_rank()) = sum; });
      });
}

}  // namespace league::logistic::kokkos_model
