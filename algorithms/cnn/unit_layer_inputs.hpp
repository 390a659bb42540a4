// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/cnn/unit_layer.hpp"

/// Gradients of the inputs of convolutions of any shape on a matrix unit.
namespace league::cnn {

/// From the gradient behind convolution `n` to that of its inputs, over all positions, masked by the ReLU before: the
/// same product with reversed kernels, over gradients zero-padded by two. Inputs that no window of the pool depends on
/// keep a gradient of 0. A team takes an image, or two; a subgroup `high` rows of positions and 16 input channels. A
/// unit has one row of positions: up to 16 of an image, or up to 8 of each of two.
template <class N, int n, class Unit_>
struct UnitLayerInputs {
  using L = Layer<N, n>;
  using Before = Layer<N, n - 1>;
  using Unit = Unit_;
  using Word = typename Unit::Word;
  using Value = typename Unit::Value;
  using Traits = blocks::mma::Traits<Unit::element>;
  using Filters = UnitFilters<Unit, false, L::inputs>;
  static constexpr bool alone = Unit::lanes == 1;
  static constexpr int edge = blocks::mma::side, side = L::live_side + 2;  ///< positions that windows depend on
  static constexpr int wide = side > edge / 2 ? edge : edge / 2, images = edge / wide;
  static constexpr int high = side > edge / 2 ? side / 2 : side, row_jobs = side / high;
  static constexpr int jobs = row_jobs * L::inputs / edge;
  static constexpr int subgroups = alone ? 1 : jobs, threads = subgroups * Unit::lanes, min_teams = 3;
  // Scratch: gradients of some output channels at a time.
  static constexpr int words = 32, pass_channels = words * Unit::per_word;
  static constexpr int passes = (L::outputs + pass_channels - 1) / pass_channels;
  static constexpr int padded = L::live_side + 4, pitch = words + 4;
  static constexpr UnitPlanes planes{padded * pitch, pitch};
  static constexpr int image_words = padded * planes.row, all_words = images * image_words;
  static constexpr int scratch_bytes = static_cast<int>(sizeof(Word)) * all_words;
  static_assert(side <= wide && row_jobs * high == side && L::outputs % pass_channels == 0 && all_words % 4 == 0);
  static_assert(scratch_bytes <= 40'000 && Before::window_side == L::side && Before::outputs == L::inputs);
  static_assert(L::windows % 4 == 0 && L::decisions % 4 == 0 && N::decisions % 4 == 0);

  LEAGUE_FUNCTION static int items(int of_images) { return (of_images + images - 1) / images; }
  template <class Barrier>
  LEAGUE_FUNCTION static void run(const blocks::Group<Barrier>& group, const StateOf<N>& s,
                                  const LayersMemory<N>& memory, const TakeOf<N>& take, int item, float* scratch) {
    const int first = item * images, lane = group.rank % Unit::lanes;
    if (first >= take.count) return;
    auto* d = reinterpret_cast<Word*>(scratch);
    for (int first_job = 0; first_job < jobs; first_job += subgroups) {
      const int job = first_job + group.rank / Unit::lanes, top = job % row_jobs * high, unit = job / row_jobs;
      int at[1][Unit::lane_rows];
      each_lane_row<Unit>(lane, [&](int r, int row) {
        at[0][r] = row / wide * image_words + top * planes.row + column_of(row) * pitch;
      });
      typename Unit::fragment_c sums[high][1];
      for (int pass = 0; pass < passes; ++pass) {
        stage(group, s, memory, take, first, pass * pass_channels, d);
        constexpr int groups = words / blocks::mma::words;
        correlate_units<Unit, Filters, planes, groups, 1, high, 1>(
            reinterpret_cast<const Word*>(memory.backward[n]) +
                Filters::step(pass * groups, 0, 0) * Filters::step_words + unit * blocks::mma::piece_words,
            d, at, lane, sums);
      }
      store(s, memory, take, first, top, unit * edge, lane, sums);
    }
  }

 private:
  /// Of a row of a unit; beyond the last column, its.
  LEAGUE_FUNCTION static int column_of(int row) { return row % wide < side ? row % wide : side - 1; }
  /// Stages the gradients of some channels: zeros, and each window's at its maximum.
  template <class Barrier>
  LEAGUE_FUNCTION static void stage(const blocks::Group<Barrier>& group, const StateOf<N>& s,
                                    const LayersMemory<N>& memory, const TakeOf<N>& take, int first, int channel,
                                    Word* d) {
    constexpr int fours = L::windows / 4, image_tasks = fours * pass_channels, tasks = images * image_tasks;
    group.barrier();
    for (int at = group.rank; at < all_words / 4; at += threads) reinterpret_cast<blocks::Pack<Word>*>(d)[at] = {};
    group.barrier();
    for (int task = group.rank; task < tasks; task += threads) {
      const int of = task / image_tasks, o = task % image_tasks / fours, window = task % fours * 4;
      if (first + of >= take.count) break;
      const int k = (channel + o) * L::windows + window;
      const Four values =
          *reinterpret_cast<const Four*>(gradient_of<N, n>(s, memory) + std::int64_t{first + of} * L::values + k);
      const auto decisions = *reinterpret_cast<const std::uint32_t*>(
          s.pool_decisions + std::int64_t{first + of} * N::decisions + L::decisions + k);
      blocks::unrolled<4>([&](int q) {
        const int place = static_cast<int>(decisions >> 8 * q & Decision::place_bits);
        const int y = (window + q) / L::window_side * L::step + place / 2 + 2;
        const int x = (window + q) % L::window_side * L::step + place % 2 + 2;
        reinterpret_cast<Value*>(d + of * image_words + y * planes.row + x * pitch)[o] =
            Traits::narrow(values.values[q]);
      });
    }
    group.barrier();
  }
  /// Stores rows of positions from `top` on; the decisions that mask them are read first, all in flight together.
  LEAGUE_FUNCTION static void store(const StateOf<N>& s, const LayersMemory<N>& memory, const TakeOf<N>& take,
                                    int first, int top, int channel, int lane,
                                    const typename Unit::fragment_c (&sums)[high][1]) {
    // Elements of a lane lie at fixed distances from the first.
    const int row = Unit::row(lane, 0), i = first + row / wide, x = row % wide;
    const int k = (channel + Unit::column(lane, 0)) * L::plane + top * L::side + x;
    const auto inside = [&](int e) {
      return x + Unit::row(0, e) % wide < side && i + Unit::row(0, e) / wide < take.count;
    };
    const auto at = [](int y, int e, int image) {
      return Unit::row(0, e) / wide * image + Unit::column(0, e) * L::plane + y * L::side + Unit::row(0, e) % wide;
    };
    const std::uint8_t* decisions = s.pool_decisions + std::int64_t{i} * N::decisions + Before::decisions + k;
    float* to = memory.d_a[n - 1] + std::int64_t{i} * Before::values + k;
    std::uint8_t of[high][Unit::sums];
    blocks::unrolled<high>([&](int y) {
      blocks::each<Unit, Unit::sums>(
          [&](int e) { of[y][e] = inside(e) ? decisions[at(y, e, N::decisions)] : std::uint8_t{0}; });
    });
    blocks::unrolled<high>([&](int y) {
      typename Unit::Sum values[Unit::sums];
      Unit::values(sums[y][0], values);
      blocks::each<Unit, Unit::sums>([&](int e) {
        if (inside(e)) to[at(y, e, Before::values)] = Decision::live(of[y][e]) ? values[e] : 0;
      });
    });
  }
};

}  // namespace league::cnn
