// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/packs_kokkos.hpp"
#include "algorithms/blocks/recomputed.hpp"
#include "algorithms/blocks/share_kokkos.hpp"
#include "algorithms/blocks/team_sums_kokkos.hpp"
#include "algorithms/linear_regression/common/kokkos.hpp"

/// A step from the rows, written once: a lane's sums, and the launch.
namespace league::kokkos::linear_regression {

/// A lane adds `tile` times `depth` packs of `width` rows in T before its sums go into double.
template <class T>
constexpr Numbers row_numbers = blocks::by_kind({.tile = 1,
                                                 .width = 16 / int{sizeof(T)},
                                                 .depth = 4,
                                                 .values = 264 / int{sizeof(T)},
                                                 .sums = 1,
                                                 .team = 256,
                                                 .teams = 1},
                                                {.tile = 16,
                                                 .width = 64 / int{sizeof(T)},
                                                 .depth = int{sizeof(T)} / 2,
                                                 .values = 4096 / int{sizeof(T)},
                                                 .sums = 64 / int{sizeof(T)},
                                                 .team = 1});

/// Rows of a pack, for kernels of up to `columns` columns: as many as fit.
template <int columns>
constexpr int rows_of_pack(const Numbers& numbers) {
  return std::min(numbers.width, static_cast<int>(std::bit_floor(static_cast<unsigned>(numbers.values / columns))));
}

/// Columns as Views of values and of packs of `pack` rows: features, and the target as the last one, if there is one
/// (`target`). Columns beyond the last feature are the first one again.
template <class T, int columns, int pack, bool target = true>
struct ColumnViews {
  explicit ColumnViews(const Columns<T>& data) : rows(data.rows), features(data.features) {
    for (int c = 0; c < columns; ++c) {
      const T* column = target && c == columns - 1 ? data.y : data.x[c < features ? c : 0];
      values[c] = Vector<const T>(column, static_cast<std::size_t>(rows));
      packs[c] = blocks::packs<pack>(values[c]);
    }
  }
  /// Whether there is a column `c`; `index`: of what is loaded of it, see `recomputed`.
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION bool has(int c, std::int64_t index) const {
    return columns == 2 || c < blocks::recomputed(features, index) || (target && c == columns - 1);
  }
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION auto pack_of(int c, std::int64_t p) const {
    return blocks::load_for_product(has(c, p), [&] { return packs[c](p); });
  }
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION T value_of(int c, std::int64_t row) const {
    return has(c, row) ? values[c](row) : T{0};
  }

  Vector<const T> values[columns];
  blocks::Packs<const T, pack> packs[columns];
  std::int64_t rows;
  int features;
};

/// What a lane adds of its rows, for up to `width` features.
template <class T, int width>
class RowSums {
 public:
  static constexpr Numbers numbers = row_numbers<T>;
  static constexpr int pack = rows_of_pack<width + 1>(numbers), n = terms<width>, wide = std::min(numbers.sums, pack);
  /// Packs of each column in flight: those of one feature, or as many values of more.
  static constexpr int depth = std::max(1, numbers.depth / ((width + 1) / 2));
  using Data = ColumnViews<T, width + 1, pack>;

  KOKKOS_FORCEINLINE_FUNCTION RowSums(const Data& data, const Line<T, width>& line) : data_(data), line_(line) {}

  /// Lane `lane` of `lanes` of team `rank` of `teams`: the team takes runs while there are enough for all teams, then
  /// single packs, then rows. Every other step takes its runs from the last to the first: it finds in the caches what
  /// the step before has read last.
  KOKKOS_FORCEINLINE_FUNCTION void add_all(int rank, int teams, int lane, int lanes, bool backward) {
    const std::int64_t packs = data_.rows / pack, run = std::int64_t{lanes} * numbers.tile * depth;
    const int runs = packs >= run * ((teams + 1) / 2) ? static_cast<int>(packs / run) : 0;
    const auto mine = blocks::share(rank, teams, runs);
    const int count = mine.end > mine.first ? (mine.end - mine.first - 1) / mine.stride + 1 : 0;
    const int by = backward ? -mine.stride : mine.stride;
    int at = backward ? mine.first + (count - 1) * mine.stride : mine.first;
    for (int turn = 0; turn < count; ++turn, at += by) {
      T sums[n][wide] = {};
      for (int t = 0; t < numbers.tile; ++t) add_packs<depth>(at * run + t * depth * lanes + lane, lanes, sums);
      flush(sums);
    }
    const std::int64_t first = std::int64_t{rank} * lanes + lane, stride = std::int64_t{teams} * lanes;
    for (std::int64_t p = runs * run + first; p < packs; p += stride) {
      T sums[n][wide] = {};
      add_packs<1>(p, 0, sums);
      flush(sums);
    }
    for (std::int64_t row = packs * pack + first; row < data_.rows; row += stride) {
      T x[width], sums[n] = {};
      for (int f = 0; f < width; ++f) x[f] = data_.value_of(f, row);
      add_row(line_, x, data_.value_of(width, row), sums);
      for (int i = 0; i < n; ++i) totals_[i][0] += static_cast<double>(sums[i]);
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION void leave(double (&sums)[n]) {
    for (int i = 0; i < n; ++i) {
      for (int half = wide / 2; half > 0; half /= 2)
        for (int k = 0; k < half; ++k) totals_[i][k] += totals_[i][k + half];
      sums[i] = totals_[i][0];
    }
  }

 private:
  using Pack = blocks::Pack<T, pack* int{sizeof(T)}>;
  /// Packs `first`, `first + stride`, ... of all columns: all loads first.
  template <int count>
  KOKKOS_FORCEINLINE_FUNCTION void add_packs(std::int64_t first, int stride, T (&sums)[n][wide]) const {
    Pack x[count][width], y[count];
    for (int d = 0; d < count; ++d) {
      for (int f = 0; f < width; ++f) x[d][f] = data_.pack_of(f, first + d * stride);
      y[d] = data_.pack_of(width, first + d * stride);
    }
    for (int group = 0; group < pack; group += wide)
      for (int k = 0; k < wide; ++k) add_rows<0>(sums, k, x, y, group + k);  // vectorised: all within is unrolled
  }
  template <int d, int count>
  KOKKOS_FORCEINLINE_FUNCTION void add_rows(T (&sums)[n][wide], int k, const Pack (&x)[count][width],
                                            const Pack (&y)[count], int at) const {
    if constexpr (d < count) {
      T error = line_.bias - y[d].values[at];
      add_products<0>(error, x[d], at);
      add_to_features<0>(sums, error, k, x[d], at);
      sums[width][k] += error;
      sums[width + 1][k] += error * error;
      add_rows<d + 1>(sums, k, x, y, at);
    }
  }
  template <int f, class Packs>
  KOKKOS_FORCEINLINE_FUNCTION void add_products(T& error, const Packs& x, int at) const {
    if constexpr (f < width) {
      error += line_.weights[f] * x[f].values[at];
      add_products<f + 1>(error, x, at);
    }
  }
  template <int f, class Packs>
  KOKKOS_FORCEINLINE_FUNCTION static void add_to_features(T (&sums)[n][wide], T error, int k, const Packs& x, int at) {
    if constexpr (f < width) {
      sums[f][k] += error * x[f].values[at];
      add_to_features<f + 1>(sums, error, k, x, at);
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION void flush(const T (&sums)[n][wide]) {
    for (int i = 0; i < n; ++i)
      for (int k = 0; k < wide; ++k) totals_[i][k] += static_cast<double>(sums[i][k]);
  }

  const Data& data_;
  const Line<T, width>& line_;
  double totals_[n][wide] = {};
};

/// Lanes of a team, by the registers that they need.
template <int width>
inline constexpr int max_row_lanes = width == 1    ? 1024
                                     : width <= 12 ? 512
                                                   : 256;

/// A method whose kernel adds `RowSums`, launched by `row_policy`.
template <class T, int width>
class RowShard : public KokkosShard {
 public:
  using Rows = RowSums<T, width>;
  using Sums = blocks::TeamSums<terms<width>>;
  RowShard(const LinearRegression& problem, const Context& context, const Shard& shard)
      : KokkosShard(problem, context, shard, width), rows_(*this, problem) {}
  Launch configure(Launch launch) override {
    return launch_ = planned(launch, row_numbers<T>, max_row_lanes<width>, Rows::pack,
                             [](int lanes) { return Sums::bytes(lanes) <= kokkos::scratch_limit(Sums::level); });
  }

 protected:
  [[nodiscard]] typename Rows::Data views() const { return typename Rows::Data(rows_.here()); }
  [[nodiscard]] int lanes() const { return launch_.team * launch_.vector; }
  [[nodiscard]] auto row_policy() const {
    return policy_of<max_row_lanes<width>>(exec_, launch_, Sums::bytes(lanes()), Sums::level);
  }
  DeviceRows<T> rows_;
  Launch launch_;
};

inline WrittenModel once() {
  return written_once<float, double>(model, []<class T>(Of<T>) { return blocks::named(row_numbers<T>); });
}

}  // namespace league::kokkos::linear_regression
