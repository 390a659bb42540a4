// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>

#include "algorithms/blocks/staged_kokkos.hpp"
#include "algorithms/logistic_regression/common/kokkos.hpp"
#include "algorithms/logistic_regression/common/kokkos_sums.hpp"
#include "algorithms/logistic_regression/common/row.hpp"

/// The sums of a gradient step of more features than a lane has registers for: several lanes share a row, and pass its
/// logit and its residual through scratch memory.
namespace league::logistic::kokkos_model {

/// A lane takes `columns` features of `depth` packs of rows, and keeps `values` of these elements in registers from the
/// logits to the sums. It computes the terms of `rows` rows at a time; `sums` packs are added side by side.
template <class T>
constexpr Numbers tile_numbers = blocks::by_kind(
    {.columns = 8,
     .width = 16 / int{sizeof(T)},
     .rows = 1,
     .depth = 1,
     .values = 8 * 16 / int{sizeof(T)},
     .sums = 1,
     .team = 256,
     .teams = 2},
    {.columns = 64, .width = 64 / int{sizeof(T)}, .rows = 64 / int{sizeof(T)}, .depth = 64, .sums = 8, .team = 1});

/// How the lanes of a team share a tile: `parts` lanes a row, `across` packs side by side.
struct TileShape {
  int features, lanes, parts, across;
};

/// The sums of a team over tiles of rows.
template <class T>
class TileSums {
  static constexpr Numbers numbers = tile_numbers<T>;
  static constexpr int width = numbers.width, columns = numbers.columns, depth = numbers.depth, side = numbers.sums;
  static constexpr int some = numbers.rows, held = numbers.values / width;
  static_assert(depth % side == 0 && width % some == 0 && (held == 0 || (held == columns && depth == 1)));
  using Pack = blocks::PackOf<T, width>;
  using Loaded = blocks::LoadedPack<T, width>;
  template <class Value>
  using Scratch = Kokkos::View<Value*, Exec::scratch_memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

 public:
  /// Packs of a tile.
  KOKKOS_FORCEINLINE_FUNCTION static int packs(const TileShape& shape) { return shape.across * depth; }
  KOKKOS_FORCEINLINE_FUNCTION static TileShape shape(int features, int lanes) {
    const int parts = (features + columns - 1) / columns;
    return {features, lanes, parts, lanes / parts};
  }
  /// Of scratch memory of level 0.
  static std::size_t bytes(const TileShape& shape) {
    return blocks::scratch_bytes<Pack>(shape.parts * packs(shape)) + blocks::scratch_bytes<Pack>(packs(shape)) +
           blocks::scratch_bytes<Label>(packs(shape)) +
           Scratch<T>::shmem_size(static_cast<std::size_t>(shape.features) + 1) +
           Scratch<double>::shmem_size(static_cast<std::size_t>(sums(shape)));
  }

  KOKKOS_FORCEINLINE_FUNCTION TileSums(const Member& team, int lanes, const Rows<T, width>& all)
      : team_(team),
        all_(all),
        shape_(shape(all.features, lanes)),
        lane_(blocks::rank(team)),
        part_(lane_ / shape_.across),
        own_(lane_ % shape_.across),
        first_(part_ * columns),
        logits_(blocks::scratch_of<Pack>(team, shape_.parts * packs(shape_)), shape_.parts * packs(shape_)),
        residuals_(blocks::scratch_of<Pack>(team, packs(shape_)), packs(shape_)),
        labels_(blocks::scratch_of<Label>(team, packs(shape_)), packs(shape_)),
        theta_(team.team_scratch(0), static_cast<std::size_t>(all.features) + 1),
        sums_(team.team_scratch(0), static_cast<std::size_t>(sums(shape_))) {}

  /// Adds the rows of the tiles of a share. @pre the whole team calls, as for `leave`
  template <class Stretch>
  KOKKOS_FORCEINLINE_FUNCTION void add(const State& state, const Stretch& tiles) {
    begin(state);
    const int per_tile = packs(shape_);
    const Runs runs = in_turn(state, tiles, 1);
    std::int64_t first = runs.first * per_tile;
    if (held > 0 && runs.count > 0) keep<0>(first, last(first));
    for (std::int64_t run = 0; run < runs.count; ++run) {
      const std::int64_t next = run + 1 < runs.count ? first + runs.step * per_tile : first;
      if (part_ < shape_.parts) set_logits(first);
      blocks::meet(team_);
      set_terms(first);
      blocks::meet(team_);
      if (part_ < shape_.parts) add_columns(first, next);
      first = next;
    }
  }
  /// Calls `put(i, sum)` for the loss, then the gradient, of all teams, in the team that comes last; the others leave
  /// theirs in `partials` [teams x sums]. @pre `ticket` [1] is 0, and is reset to 0
  /// @returns whether this team was the last: its lanes see what `put` wrote after a barrier
  template <class Put>
  KOKKOS_FORCEINLINE_FUNCTION bool leave(const Vector<double>& partials, const Vector<unsigned>& ticket,
                                         const Put& put) {
    const int n = sums_of(shape_.features, false);
    const std::int64_t own = team_.league_rank() * n;
    over_lanes([&](int i, double sum) { partials(own + i) = sum; });
    if (!blocks::comes_last(team_, team_.league_size(), ticket(0), sums_(sums(shape_) - 1))) return false;
    blocks::add_teams(team_, shape_.lanes, n, sums_, partials, put);
    return true;
  }

 private:
  using Label = blocks::PackOf<std::uint8_t, width>;

  /// Of the columns, one for each pack that lies side by side, then losses and residuals of the lanes.
  KOKKOS_FORCEINLINE_FUNCTION static int sums(const TileShape& shape) {
    return shape.parts * columns * shape.across + 2 * shape.lanes;
  }
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION int slot(int column) const { return column * shape_.across; }
  /// Where pack `n` of this lane lies in the tile.
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION int at(int n) const { return own_ * depth + n; }
  /// The same; behind the last pack that one is repeated, `last` in this tile.
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION int at(int n, int last) const { return at(n) < last ? at(n) : last; }
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION int last(std::int64_t first) const {
    const std::int64_t here = all_.packs - first, all = packs(shape_);
    return static_cast<int>(here < all ? here : all) - 1;
  }
  /// Where a tile begins in column `d` of this lane; behind the last column that one is repeated.
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION std::int64_t start(std::int64_t first, int d) const {
    return (first_ + d < all_.features ? first_ + d : all_.features - 1) * all_.packs + first;
  }

  KOKKOS_FORCEINLINE_FUNCTION void begin(const State& state) {
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team_, all_.features + 1),
                         [&](int j) { theta_(j) = static_cast<T>(state.theta(j)); });
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team_, static_cast<int>(sums_.extent(0))),
                         [&](int i) { sums_(i) = 0; });
    team_.team_barrier();
  }
  template <int d>
  KOKKOS_FORCEINLINE_FUNCTION void keep(std::int64_t first, int last) {
    if constexpr (d < held) {
      kept_[d] = all_.columns(start(first, d) + at(0, last));
      keep<d + 1>(first, last);
    } else if constexpr (held > 0) {
      kept_labels_ = all_.labels(first + at(0, last));
    }
  }
  /// 0 where there is no feature.
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION T weight(int d) const {
    return first_ + d < all_.features ? theta_(first_ + d + 1) : T{0};
  }

  KOKKOS_FORCEINLINE_FUNCTION void set_logits(std::int64_t first) const {
    const int end = last(first);
    for (int n = 0; n < depth; n += side) {
      T z[side][width];
      for (int s = 0; s < side; ++s)
        for (int k = 0; k < width; ++k) z[s][k] = part_ == 0 ? theta_(0) : T{0};
      add_kept<0>(z[0]);
      for (int d = held; d < columns && first_ + d < all_.features; ++d) {
        const T of_column = weight(d);
        const std::int64_t begin = start(first, d);
        for (int s = 0; s < side; ++s) {
          const Loaded values = all_.columns(begin + at(n + s, end));
          LEAGUE_VECTORISED
          for (int k = 0; k < width; ++k) z[s][k] += of_column * values.values[k];
        }
      }
      for (int s = 0; s < side; ++s) {
        for (int k = 0; k < width; ++k) logits_(part_ * packs(shape_) + at(n + s)).values[k] = z[s][k];
        if (part_ != 0) continue;
        if constexpr (held > 0)
          labels_(at(n + s)) = kept_labels_;
        else
          labels_(at(n + s)) = all_.labels(first + at(n + s, end));
      }
    }
  }
  template <int d>
  KOKKOS_FORCEINLINE_FUNCTION void add_kept(T (&z)[width]) const {
    if constexpr (d < held) {
      const T of_column = weight(d);
      for (int k = 0; k < width; ++k) z[k] += of_column * kept_[d].values[k];
      add_kept<d + 1>(z);
    }
  }

  /// Logits become residuals, 0 where there is no row; adds these and the losses.
  KOKKOS_FORCEINLINE_FUNCTION void set_terms(std::int64_t first) {
    const std::int64_t left = all_.count - first * width;
    const int all = packs(shape_), runs = all * width / some;
    for (int run = lane_; run < runs; run += shape_.lanes) {
      const int row = run * some, pack = row / width, begin = row % width;
      T z[some], y[some], loss[some], residual[some];
      int label[some];
      for (int s = 0; s < some; ++s) z[s] = logits_(pack).values[begin + s];
      for (int part = 1; part < shape_.parts; ++part)
        for (int s = 0; s < some; ++s) z[s] += logits_(part * all + pack).values[begin + s];
      LEAGUE_VECTORISED
      for (int s = 0; s < some; ++s) label[s] = labels_(pack).values[begin + s];
      LEAGUE_VECTORISED
      for (int s = 0; s < some; ++s) y[s] = static_cast<T>(label[s]);
      LEAGUE_VECTORISED
      for (int s = 0; s < some; ++s) {
        const RowTerms<T> terms = row_terms(z[s], y[s]);
        residual[s] = terms.residual;
        loss[s] = terms.loss;
      }
      const int there = row < left ? static_cast<int>(left - row < some ? left - row : some) : 0;
      LEAGUE_VECTORISED
      for (int s = 0; s < some; ++s) {
        residual[s] = s < there ? residual[s] : T{0};
        loss[s] = s < there ? loss[s] : T{0};
      }
      for (int s = 0; s < some; ++s) residuals_(pack).values[begin + s] = residual[s];
      widen(loss, loss_);
      widen(residual, residual_);
    }
  }

  /// Adds the products of residuals and columns; what is kept becomes that of the tile from pack `next` on.
  KOKKOS_FORCEINLINE_FUNCTION void add_columns(std::int64_t first, std::int64_t next) {
    add_held<0>(next, last(next));
    const int end = last(first);
    for (int d = held; d < columns && first_ + d < all_.features; ++d) {
      const std::int64_t begin = start(first, d);
      T part[side][width] = {};
      for (int n = 0; n < depth; n += side) add_products<0>(begin, n, end, part);
      for (int s = 1; s < side; ++s) {
        LEAGUE_VECTORISED
        for (int k = 0; k < width; ++k) part[0][k] += part[s][k];
      }
      double sum[wide<T, width>] = {};
      widen(part[0], sum);
      sums_(slot(first_ + d) + own_) += narrowed(sum);
    }
  }
  // A template over packs, not a loop: GCC vectorises what is unrolled before.
  template <int s>
  KOKKOS_FORCEINLINE_FUNCTION void add_products(std::int64_t begin, int n, int end, T (&part)[side][width]) const {
    if constexpr (s < side) {
      const Loaded values = all_.columns(begin + at(n + s, end)), residual = residuals_(at(n + s));
      LEAGUE_VECTORISED
      for (int k = 0; k < width; ++k) part[s][k] += residual.values[k] * values.values[k];
      add_products<s + 1>(begin, n, end, part);
    }
  }
  template <int d>
  KOKKOS_FORCEINLINE_FUNCTION void add_held(std::int64_t next, int last) {
    if constexpr (d < held) {
      const Loaded residual = residuals_(at(0));
      T sum = 0;
      for (int k = 0; k < width; ++k) sum += residual.values[k] * kept_[d].values[k];
      totals_[d] += static_cast<double>(sum);
      kept_[d] = all_.columns(start(next, d) + at(0, last));
      add_held<d + 1>(next, last);
    } else if constexpr (held > 0) {
      kept_labels_ = all_.labels(next + at(0, last));
    }
  }
  template <int d>
  KOKKOS_FORCEINLINE_FUNCTION void leave_held() const {
    if constexpr (d < held) {
      if (part_ < shape_.parts) sums_(slot(first_ + d) + own_) = totals_[d];
      leave_held<d + 1>();
    }
  }

  /// Calls `put(i, sum)` for the loss, then the gradient, of this team.
  template <class Put>
  KOKKOS_FORCEINLINE_FUNCTION void over_lanes(const Put& put) {
    leave_held<0>();
    sums_(slot(shape_.parts * columns) + lane_) = narrowed(loss_);
    sums_(slot(shape_.parts * columns) + shape_.lanes + lane_) = narrowed(residual_);
    team_.team_barrier();
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team_, shape_.features), [&](int d) {
      put(gradient_at(d + 1), blocks::sum_in_order<4>(shape_.across, [&](int i) { return sums_(slot(d) + i); }));
    });
    for (int i = 0; i < 2; ++i) {
      double sum = 0;
      Kokkos::parallel_reduce(
          Kokkos::TeamVectorRange(team_, shape_.lanes),
          [&](int lane, double& total) { total += sums_(slot(shape_.parts * columns) + i * shape_.lanes + lane); },
          sum);
      blocks::once_per_team(team_, [&] { put(i * gradient_at(0), sum); });
    }
  }

  const Member& team_;
  const Rows<T, width>& all_;
  const TileShape shape_;
  const int lane_, part_, own_;       ///< this lane, which part of a row it has, and which pack of those side by side
  const int first_;                   ///< feature
  Scratch<Pack> logits_, residuals_;  ///< of the parts of rows, of rows
  Scratch<Label> labels_;
  Scratch<T> theta_;
  Scratch<double> sums_;
  Pack kept_[std::max(held, 1)];
  Label kept_labels_;
  double totals_[std::max(held, 1)] = {};
  double loss_[wide<T, some>] = {}, residual_[wide<T, some>] = {};
};

}  // namespace league::logistic::kokkos_model
