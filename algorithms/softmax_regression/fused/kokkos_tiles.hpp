// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstdint>

#include "algorithms/blocks/exponentials.hpp"
#include "algorithms/blocks/staged_kokkos.hpp"
#include "algorithms/blocks/vectorised.hpp"
#include "algorithms/softmax_regression/fused/kokkos_inputs.hpp"

/// A tile of rows of the method `fused`: its logits, residuals and gradient.
namespace league::softmax_regression::kokkos_model {

/// Work of a team on `rows_` rows at a time. Rows are read twice, the second time from the first-level cache; partial
/// logits and residuals are in scratch.
template <class T, int rows_>
class Tile {
  static constexpr Numbers n = numbers<T>;
  static constexpr int width = n.width, of_lane = n.rows, some = n.columns, side = n.sums, held = n.values;
  static constexpr int groups = rows_ / of_lane, shares = classes_together / some;
  static constexpr int row_pack = std::max(of_lane, side), row_packs = rows_ / row_pack;
  static constexpr int values = rows_ * classes_together;  ///< logits of a turn
  static_assert(rows_ % row_pack == 0 && classes_together % some == 0 && row_pack % of_lane == 0);
  using Rows = blocks::PackOf<float, row_pack>;
  using Logits = float[of_lane][some][side];
  static constexpr int in_flight = std::max(n.depth, 1);
  static constexpr int packs_of_line = 8;  ///< of a row, which neighbouring lanes take
  template <class Value>
  using Scratch = Kokkos::View<Value*, Exec::scratch_memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  using Residuals = Kokkos::View<Rows* [row_packs], Kokkos::LayoutRight, Exec::scratch_memory_space,
                                 Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

 public:
  static constexpr int rows = rows_;
  using Gradient = float[held][classes_together][width];

  static std::size_t bytes(int classes, int lanes) {
    return Scratch<float>::shmem_size(slots_of(lanes)) + Residuals::shmem_size(residuals_of(classes));
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
    packs_here_ = (here_ + row_pack - 1) / row_pack;
    const int all_turns = turns(rule_.classes), groups_here = packs_here_ * (row_pack / of_lane);
    for (int turn = 0; turn < all_turns; ++turn) {
      Kokkos::parallel_for(Kokkos::TeamVectorRange(team_, groups_here * shares * slices_),
                           [&](int item) { add_logits(turn, item); });
      team_.team_barrier();
      Kokkos::parallel_for(Kokkos::TeamVectorRange(team_, values / side),
                           [&](int item) { set_logits(turn, item * side); });
      team_.team_barrier();
    }
    double loss = 0;
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team_, packs_here_ * (row_pack / side)),
                         [&](int item) { loss += set_residuals(item * side, all_turns); });
    team_.team_barrier();
    return loss;
  }
  /// Items of the gradient: `held` packs of features and a turn of classes.
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION int items() const { return turns(rule_.classes) * pack_groups(); }
  /// Adds the tile's residuals times its features.
  KOKKOS_FORCEINLINE_FUNCTION void add_gradient(int item, Gradient& sums) const {
    const int turn = item / pack_groups(), pack = item % pack_groups() * held;
    for (int block = 0; block < packs_here_; ++block)
      for (int part = 0; part < row_pack; part += of_lane) {
        float x[of_lane][held][width];
        for (int r = 0; r < of_lane; ++r)
          for (int h = 0; h < held; ++h)
            load(place(block * row_pack + part + r) + (pack + h < in_.packs ? pack + h : pack), x[r][h]);
        add_classes<0>(turn * classes_together, block, part, x, sums);
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
  /// How many lanes share the features of some rows and classes: whole lines of packs, where they are that many.
  KOKKOS_FORCEINLINE_FUNCTION static int slices_of(int lanes) {
    const int most = lanes > groups * shares ? lanes / (groups * shares) : 1;
    return most < packs_of_line ? most : most / packs_of_line * packs_of_line;
  }
  /// Partial logits of a slice, and one more: lanes store to other banks.
  static constexpr int slot_pitch = values + 1;
  KOKKOS_FORCEINLINE_FUNCTION static std::size_t slots_of(int lanes) {
    return static_cast<std::size_t>(slices_of(lanes) * slot_pitch);
  }
  KOKKOS_FORCEINLINE_FUNCTION static std::size_t residuals_of(int classes) {
    return static_cast<std::size_t>(turns(classes) * classes_together);
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

  /// Adds some rows times their residuals, class after class. A template, not a loop: all is unrolled, so that sums
  /// stay in registers.
  template <int c>
  KOKKOS_FORCEINLINE_FUNCTION void add_classes(int first, int block, int part, const float (&x)[of_lane][held][width],
                                               Gradient& sums) const {
    if constexpr (c < classes_together) {
      const blocks::LoadedPack<float, row_pack> residuals = z_(first + c, block);
      for (int r = 0; r < of_lane; ++r)
        for (int h = 0; h < held; ++h) {
          LEAGUE_VECTORISED
          for (int k = 0; k < width; ++k) sums[h][c][k] += residuals.values[part + r] * x[r][h][k];
        }
      add_classes<c + 1>(first, block, part, x, sums);
    }
  }
  /// Partial logits of some rows and classes, from every `slices_`-th pack. Neighbouring lanes take the packs of a line
  /// of a row, then other rows, which need the same weights.
  KOKKOS_FORCEINLINE_FUNCTION void add_logits(int turn, int item) const {
    const int line = slices_ < packs_of_line ? slices_ : packs_of_line,
              groups_here = packs_here_ * (row_pack / of_lane);
    const int group = item / line % groups_here, rest = item / line / groups_here;
    const int share = rest % shares, slice = rest / shares * line + item % line;
    const int used = (rule_.features + width) / width;
    Logits z = {};
    int q = slice;
    for (; q + (in_flight - 1) * slices_ < used; q += in_flight * slices_)
      add_packs<in_flight>(turn, group * of_lane, share * some, q, z);
    for (; q < used; q += slices_) add_packs<1>(turn, group * of_lane, share * some, q, z);
    const int at = slice * slot_pitch + share * some * rows + group * of_lane;
    for (int r = 0; r < of_lane; ++r)
      for (int c = 0; c < some; ++c) slots_(at + c * rows + r) = blocks::folded<side>(z[r][c]);
  }
  /// Adds `n` packs, all of which are loaded first, times the weights of classes from `of_class` on.
  template <int n>
  KOKKOS_FORCEINLINE_FUNCTION void add_packs(int turn, int row, int of_class, int q, Logits& z) const {
    float x[n][of_lane][width];
    for (int i = 0; i < n; ++i)
      for (int r = 0; r < of_lane; ++r) load(place(row + r) + q + i * slices_, x[i][r]);
    add_pack<0>(turn, of_class, q, x, z);
  }
  template <int i, int n>
  KOKKOS_FORCEINLINE_FUNCTION void add_pack(int turn, int of_class, int q, const float (&x)[n][of_lane][width],
                                            Logits& z) const {
    if constexpr (i < n) {
      const auto here = static_cast<unsigned>(q + i * slices_);
      const unsigned runs = static_cast<unsigned>(in_.packs + packs_of_run - 1) / packs_of_run;
      for (int c = 0; c < some; ++c) {
        const blocks::LoadedPack<float, width> weights =
            in_.weights(turn * runs + here / packs_of_run, of_class + c, here % packs_of_run);
        for (int r = 0; r < of_lane; ++r)
          for (int k = 0; k < width; k += side) {
            LEAGUE_VECTORISED
            for (int s = 0; s < side; ++s) z[r][c][s] += x[i][r][k + s] * weights.values[k + s];
          }
      }
      add_pack<i + 1>(turn, of_class, q, x, z);
    }
  }
  /// Adds the partial logits of `side` rows of a class.
  KOKKOS_FORCEINLINE_FUNCTION void set_logits(int turn, int at) const {
    const int c = turn * classes_together + at / rows, row = at % rows;
    float logits[side] = {};
    for (int slice = 0; slice < slices_; ++slice) {
      LEAGUE_VECTORISED
      for (int s = 0; s < side; ++s) logits[s] += slots_(slice * slot_pitch + at + s);
    }
    Rows& z = z_(c, row / row_pack);
    LEAGUE_VECTORISED
    for (int s = 0; s < side; ++s) z.values[row % row_pack + s] = c < rule_.classes ? logits[s] : no_logit;
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
        const Rows& z = z_(c, block);
        LEAGUE_VECTORISED
        for (int s = 0; s < side; ++s) {
          largest[s] = z.values[at + s] > largest[s] ? z.values[at + s] : largest[s];
          of_label[s] = c == label[s] ? z.values[at + s] : of_label[s];
        }
      }
    for (int turn = 0; turn < all_turns; ++turn)
      for (int i = 0; i < classes_together; ++i) {
        Rows& z = z_(turn * classes_together + i, block);
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
        Rows& z = z_(c, block);
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
  Residuals z_;  ///< [whole turns of classes][rows]: logits, then residuals
  Scratch<float> slots_;
  blocks::Packs<const T, width> x_;  ///< of the tile
  std::int64_t first_ = 0;
  int here_ = 0, packs_here_ = 0;  ///< rows of the tile, and packs of them
};

}  // namespace league::softmax_regression::kokkos_model
