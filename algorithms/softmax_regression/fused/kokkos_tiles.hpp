// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstdint>

#include "algorithms/blocks/exponentials.hpp"
#include "algorithms/blocks/staged_kokkos.hpp"
#include "algorithms/softmax_regression/common/kokkos.hpp"

/// A tile of rows of the method `fused`: its logits, residuals and gradient.
namespace league::softmax_regression::kokkos_model {

/// `tile`: rows of a team at a time. A lane takes packs of `width` features. For the logits it takes `rows` rows and
/// `columns` classes, with `sums` partial sums of each side by side; for the softmax as many rows side by side; for the
/// gradient `values` packs and all classes of a turn.
template <class T>
constexpr Numbers numbers = blocks::by_kind({.tile = 16,
                                             .columns = classes_together / 2,
                                             .width = 4,
                                             .rows = 4,
                                             .values = 1,
                                             .sums = 1,
                                             .team = 256,
                                             .teams = 2},
                                            {.tile = 32,
                                             .columns = classes_together,
                                             .width = blocks::host_vector_bytes / 4,
                                             .rows = blocks::host_vectors / 16,
                                             .values = blocks::host_vectors / 16,
                                             .sums = blocks::host_vector_bytes / 4,
                                             .team = 1});

constexpr int packs_of_run = 32;  ///< of weights of a class that lie together: a subgroup's

/// The rows of a shard and the weights, in packs.
template <class T>
struct Inputs {
  static constexpr int width = numbers<T>.width;
  blocks::Packs<const T, width> x;            ///< [rows][packs]
  blocks::Packs<const float, width> weights;  ///< as `State`
  Vector<const std::int32_t> labels;
  int packs;
};

/// A pack as floats. (GCC 12 vectorises no conversion of bytes to floats, but both halves of it.)
template <int width>
KOKKOS_FORCEINLINE_FUNCTION void to_floats(const blocks::PackOf<float, width>& pack, float (&x)[width]) {
  LEAGUE_VECTORISED
  for (int k = 0; k < width; ++k) x[k] = pack.values[k];
}
template <int width>
KOKKOS_FORCEINLINE_FUNCTION void to_floats(const blocks::PackOf<std::uint8_t, width>& pack, float (&x)[width]) {
  int whole[width];
  LEAGUE_VECTORISED
  for (int k = 0; k < width; ++k) whole[k] = pack.values[k];
  LEAGUE_VECTORISED
  for (int k = 0; k < width; ++k) x[k] = static_cast<float>(whole[k]);
}

/// Work of a team on `rows_` rows at a time. Rows are read twice, the second time from the first-level cache; partial
/// logits and residuals are in scratch.
template <class T, int rows_>
class Tile {
  static constexpr Numbers n = numbers<T>;
  static constexpr int width = n.width, of_lane = n.rows, some = n.columns, side = n.sums, held = n.values;
  static constexpr int groups = rows_ / of_lane, shares = classes_together / some;
  static constexpr int row_pack = std::max(of_lane, side), row_packs = rows_ / row_pack;
  static_assert(rows_ % row_pack == 0 && classes_together % some == 0 && row_pack % of_lane == 0);
  using Rows = blocks::PackOf<float, row_pack>;
  template <class Value>
  using Scratch = Kokkos::View<Value*, Exec::scratch_memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

 public:
  static constexpr int rows = rows_;
  using Gradient = float[held][classes_together][width];

  static std::size_t bytes(int classes, int lanes) {
    return Scratch<float>::shmem_size(slots_of(lanes)) + Scratch<Rows>::shmem_size(residuals_of(classes));
  }

  KOKKOS_FORCEINLINE_FUNCTION Tile(const Member& team, int lanes, const Inputs<T>& in, const Rule& rule)
      : team_(team),
        in_(in),
        rule_(rule),
        slices_(slices_of(lanes)),
        z_(team.team_scratch(0), residuals_of(rule.classes)),
        slots_(team.team_scratch(0), slots_of(lanes)) {}

  /// Takes the rows from `first` on, `last` excluded. @returns the calling lane's share of their losses. @pre the whole
  /// team calls
  KOKKOS_FORCEINLINE_FUNCTION double take(std::int64_t first, std::int64_t last) {
    first_ = first;
    x_ = blocks::Packs<const T, width>(&in_.x(first * in_.packs), static_cast<std::size_t>(rows * in_.packs));
    here_ = last - first < rows ? static_cast<int>(last - first) : rows;
    const int all_turns = turns(rule_.classes);
    for (int turn = 0; turn < all_turns; ++turn) {
      Kokkos::parallel_for(Kokkos::TeamVectorRange(team_, groups * shares * slices_),
                           [&](int item) { add_logits(turn, item); });
      team_.team_barrier();
      Kokkos::parallel_for(Kokkos::TeamVectorRange(team_, rows * classes_together),
                           [&](int item) { set_logit(turn, item); });
      team_.team_barrier();
    }
    double loss = 0;
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team_, rows / side),
                         [&](int item) { loss += set_residuals(item * side, all_turns); });
    team_.team_barrier();
    return loss;
  }
  /// Items of the gradient: `held` packs of features and a turn of classes.
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION int items() const { return turns(rule_.classes) * pack_groups(); }
  /// Adds the tile's residuals times its features.
  KOKKOS_FORCEINLINE_FUNCTION void add_gradient(int item, Gradient& sums) const {
    const int turn = item / pack_groups(), pack = item % pack_groups() * held;
    for (int block = 0; block < row_packs; ++block)
      for (int part = 0; part < row_pack; part += of_lane) {
        float x[of_lane][held][width];
        for (int r = 0; r < of_lane; ++r)
          for (int h = 0; h < held; ++h)
            load(place(block * row_pack + part + r) + (pack + h < in_.packs ? pack + h : pack), x[r][h]);
        for (int c = 0; c < classes_together; ++c) {
          const blocks::LoadedPack<float, row_pack> residuals = z_((turn * classes_together + c) * row_packs + block);
          for (int r = 0; r < of_lane; ++r)
            for (int h = 0; h < held; ++h) {
              LEAGUE_VECTORISED
              for (int k = 0; k < width; ++k) sums[h][c][k] += residuals.values[part + r] * x[r][h][k];
            }
        }
      }
  }
  /// Stores the sums of an item to those of a team, [classes][pitch] from `first` on, or adds them, and clears them.
  KOKKOS_FORCEINLINE_FUNCTION void leave(int item, bool add, std::int64_t first, const Vector<double>& partials,
                                         Gradient& sums) const {
    const int turn = item / pack_groups(), pack = item % pack_groups() * held;
    for (int h = 0; h < held; ++h)
      for (int c = 0; c < classes_together; ++c) {
        const int of_class = turn * classes_together + c;
        if (of_class < rule_.classes && pack + h < in_.packs) {
          const std::int64_t at = first + std::int64_t{of_class} * rule_.pitch + (pack + h) * width;
          if (add) {
            LEAGUE_VECTORISED
            for (int k = 0; k < width; ++k) partials(at + k) += static_cast<double>(sums[h][c][k]);
          } else {
            LEAGUE_VECTORISED
            for (int k = 0; k < width; ++k) partials(at + k) = static_cast<double>(sums[h][c][k]);
          }
        }
        LEAGUE_VECTORISED
        for (int k = 0; k < width; ++k) sums[h][c][k] = 0;
      }
  }

 private:
  /// How many lanes share the features of some rows and classes.
  KOKKOS_FORCEINLINE_FUNCTION static int slices_of(int lanes) {
    return lanes > groups * shares ? lanes / (groups * shares) : 1;
  }
  /// Partial logits of a row and class, and one more: lanes read other banks.
  KOKKOS_FORCEINLINE_FUNCTION static int slot_pitch(int slices) { return slices * side + 1; }
  KOKKOS_FORCEINLINE_FUNCTION static std::size_t slots_of(int lanes) {
    return static_cast<std::size_t>(rows * classes_together * slot_pitch(slices_of(lanes)));
  }
  KOKKOS_FORCEINLINE_FUNCTION static std::size_t residuals_of(int classes) {
    return static_cast<std::size_t>(turns(classes) * classes_together * row_packs);
  }
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION int pack_groups() const { return (in_.packs + held - 1) / held; }
  /// Where a row of the tile begins; rows behind the last one are that one.
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION int place(int row) const {
    return (row < here_ ? row : here_ - 1) * in_.packs;
  }
  KOKKOS_FORCEINLINE_FUNCTION void load(int at, float (&x)[width]) const {
    const blocks::LoadedPack<T, width> pack = x_(at);
    to_floats<width>(pack, x);
  }

  /// Partial logits of some rows and classes, from every `slices_`-th pack.
  KOKKOS_FORCEINLINE_FUNCTION void add_logits(int turn, int item) const {
    const int slice = item % slices_, share = item / slices_ % shares, group = item / slices_ / shares;
    const int used = (rule_.features + width) / width, runs = (in_.packs + packs_of_run - 1) / packs_of_run;
    int from[of_lane];
    for (int r = 0; r < of_lane; ++r) from[r] = place(group * of_lane + r);
    float z[of_lane][some][side] = {};
    for (int q = slice; q < used; q += slices_) {
      float x[of_lane][width];
      for (int r = 0; r < of_lane; ++r) load(from[r] + q, x[r]);
      const int run = (turn * runs + q / packs_of_run) * classes_together + share * some;
      for (int c = 0; c < some; ++c) {
        const blocks::LoadedPack<float, width> weights = in_.weights((run + c) * packs_of_run + q % packs_of_run);
        for (int r = 0; r < of_lane; ++r)
          for (int k = 0; k < width; k += side) {
            LEAGUE_VECTORISED
            for (int s = 0; s < side; ++s) z[r][c][s] += x[r][k + s] * weights.values[k + s];
          }
      }
    }
    for (int r = 0; r < of_lane; ++r)
      for (int c = 0; c < some; ++c) {
        const int at = ((share * some + c) * rows + group * of_lane + r) * slot_pitch(slices_) + slice * side;
        LEAGUE_VECTORISED
        for (int s = 0; s < side; ++s) slots_(at + s) = z[r][c][s];
      }
  }
  /// Adds the partial logits of a row and class.
  KOKKOS_FORCEINLINE_FUNCTION void set_logit(int turn, int item) const {
    constexpr int together = 4;
    const int count = slices_ * side, first = item * slot_pitch(slices_), c = turn * classes_together + item / rows;
    float parts[together] = {}, rest = 0;
    int i = 0;
    for (; i + together <= count; i += together) {
      LEAGUE_VECTORISED
      for (int k = 0; k < together; ++k) parts[k] += slots_(first + i + k);
    }
    for (; i < count; ++i) rest += slots_(first + i);
    const int row = item % rows;
    z_(c * row_packs + row / row_pack).values[row % row_pack] =
        c < rule_.classes ? (parts[0] + parts[1]) + (parts[2] + parts[3]) + rest : no_logit;
  }
  /// Turns the logits of `side` rows into residuals, 0 where there is no row. @returns their loss
  KOKKOS_FORCEINLINE_FUNCTION double set_residuals(int row, int all_turns) const {
    const int block = row / row_pack, at = row % row_pack;
    int label[side];
    float largest[side], of_label[side], sum[side], factor[side], loss[side];
    for (int s = 0; s < side; ++s) label[s] = row + s < here_ ? in_.labels(first_ + row + s) : -1;
    for (int s = 0; s < side; ++s) largest[s] = no_logit, of_label[s] = 0, sum[s] = 0;
    for (int turn = 0; turn < all_turns; ++turn)
      for (int i = 0; i < classes_together; ++i) {
        const int c = turn * classes_together + i;
        const Rows& z = z_(c * row_packs + block);
        LEAGUE_VECTORISED
        for (int s = 0; s < side; ++s) {
          largest[s] = z.values[at + s] > largest[s] ? z.values[at + s] : largest[s];
          of_label[s] = c == label[s] ? z.values[at + s] : of_label[s];
        }
      }
    for (int turn = 0; turn < all_turns; ++turn)
      for (int i = 0; i < classes_together; ++i) {
        Rows& z = z_((turn * classes_together + i) * row_packs + block);
        LEAGUE_VECTORISED
        for (int s = 0; s < side; ++s) {
          z.values[at + s] = blocks::exp(z.values[at + s] - largest[s]);
          sum[s] += z.values[at + s];
        }
      }
    LEAGUE_VECTORISED
    for (int s = 0; s < side; ++s) {
      factor[s] = 1 / sum[s];
      loss[s] = blocks::log1p(sum[s] - 1) + (largest[s] - of_label[s]);
    }
    LEAGUE_VECTORISED
    for (int s = 0; s < side; ++s) {
      factor[s] = label[s] < 0 ? 0 : factor[s];
      loss[s] = label[s] < 0 ? 0 : loss[s];
    }
    for (int turn = 0; turn < all_turns; ++turn)
      for (int i = 0; i < classes_together; ++i) {
        const int c = turn * classes_together + i;
        Rows& z = z_(c * row_packs + block);
        LEAGUE_VECTORISED
        for (int s = 0; s < side; ++s) z.values[at + s] = z.values[at + s] * factor[s] - (c == label[s] ? 1.0F : 0.0F);
      }
    double total = 0;
    for (int s = 0; s < side; ++s) total += static_cast<double>(loss[s]);
    return total;
  }

  const Member& team_;
  const Inputs<T>& in_;
  const Rule& rule_;
  int slices_;
  Scratch<Rows> z_;  ///< [whole turns of classes][rows]: logits, then residuals
  Scratch<float> slots_;
  blocks::Packs<const T, width> x_;  ///< of the tile
  std::int64_t first_ = 0;
  int here_ = 0;
};

}  // namespace league::softmax_regression::kokkos_model
