// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/cnn/loops/kokkos_memory.hpp"

/// The convolutions forward.
namespace league::cnn::kokkos_model {

/// Convolutions, ReLU, pool and dropout. A team takes `tile` rows of an image's windows, a lane `rows` x `columns`
/// windows of `values` packs of channels, whose sums stay in registers. `depth` channels of the first convolution's
/// output are in scratch at a time.
struct Forward : BatchKernel {
  static constexpr Numbers numbers = of_forward;
  static constexpr int rows = 2 * numbers.rows, columns = 2 * numbers.columns, packs = numbers.values,
                       width = numbers.width;  ///< of a lane's sums
  static constexpr int bands = pooled_side / numbers.tile, band_windows = windows / bands;
  static constexpr int rows1 = 2 * numbers.tile + 2, rows0 = rows1 + 2;  ///< of both planes before
  static constexpr int down = numbers.tile / numbers.rows, across = pooled_side / numbers.columns;
  static constexpr int items = down * across * Weights::lanes, together = Weights::together;
  static constexpr int pitch1 = ceil_div(side1, of_rows.width) * of_rows.width, plane1 = rows1 * pitch1;
  static constexpr int x_size = rows0 * side + of_rows.width, pitch = channels2 + 1;
  static constexpr int lanes = numbers.team;
  static_assert(pitch1 % 2 == 0 && columns % 2 == 0);
  // A lane of several items stages weights without a barrier: its team is one thread.
  static_assert(items % lanes == 0 && (items == lanes || (lanes == 1 && numbers.depth == channels1)));

  using Staged = blocks::StagedPacks<blocks::PackOf<float, width>, numbers.depth * taps * together * packs, lanes>;
  using Sums = float[rows][columns][packs][width];

  blocks::Packs<const float, width> weights;            ///< see `Weights`
  blocks::Packs<float, of_pooled.width> p;              ///< behind the pool
  blocks::Packs<std::uint8_t, of_pooled.width> places;  ///< decisions

  static std::size_t bytes() {
    return Staged::bytes() + Scratch<blocks::PackOf<float, 2>>::shmem_size(numbers.depth * plane1 / 2) +
           Scratch<float>::shmem_size(x_size) + Scratch<float>::shmem_size(band_windows * pitch) +
           Scratch<std::uint8_t>::shmem_size(band_windows * pitch);
  }
  LEAGUE_FLAT KOKKOS_FUNCTION void operator()(const Member& team) const;

 private:
  class Team;
};

/// A team's work.
class Forward::Team {
 public:
  KOKKOS_FORCEINLINE_FUNCTION Team(const Member& team, const Forward& kernel)
      : team_(team),
        on_(kernel),
        take_(kernel.take()),
        pairs_(team.team_scratch(int{numbers.level}), std::size_t{numbers.depth * plane1 / 2}),
        a1_(&pairs_(0).values[0], std::size_t{numbers.depth * plane1}),
        x_(team.team_scratch(int{numbers.level}), std::size_t{x_size}),
        values_(team.team_scratch(int{numbers.level}), std::size_t{band_windows * pitch}),
        decisions_(team.team_scratch(int{numbers.level}), std::size_t{band_windows * pitch}),
        weights_(team, kernel.weights) {}

  KOKKOS_FORCEINLINE_FUNCTION void run() const {
    const int rank = blocks::rank(team_);
    for (int at = rank; at < of_rows.width; at += lanes) x_(rows0 * side + at) = 0;
    const auto mine = blocks::share(team_.league_rank(), team_.league_size(), bands * take_.count);
    for (int band = mine.first; band < mine.end; band += mine.stride) {
      blocks::meet(team_);  // the band before is written
      const std::uint8_t* image = take_.image(band / bands) + band % bands * (2 * numbers.tile * side);
      for (int at = rank; at < rows0 * side; at += lanes) x_(at) = pixel<float>(image[at]);
      convolve(rank);
      blocks::meet(team_);
      write(rank, band / bands, band % bands);
    }
  }

 private:
  /// Both convolutions and the pool of a band.
  KOKKOS_FORCEINLINE_FUNCTION void convolve(int rank) const {
    int there = -1;  // the first channel in scratch
    for (int item = rank; item < items; item += lanes) {
      const int at = item % together, cell = item / together % (down * across),
                block = item / (together * down * across);
      const int row = cell / across * numbers.rows, column = cell % across * numbers.columns;  // of windows
      const int first = (block * together + at) * packs * width;
      Sums sums;
      for (int v = 0; v < packs; ++v)
        for (int y = 0; y < rows; ++y)
          for (int x = 0; x < columns; ++x) {
            LEAGUE_VECTORISED
            for (int k = 0; k < width; ++k) sums[y][x][v][k] = on_.s.weights[conv2_biases + first + v * width + k];
          }
      for (int c0 = 0; c0 < channels1; c0 += numbers.depth) {
        const bool moves = c0 != there;
        if (moves) {
          blocks::meet(team_);
          convolve_first(rank, c0);
        }
        weights_.stage(rank, (block * channels1 + c0) * (taps * together * packs));
        if (moves) blocks::meet(team_);
        there = c0;
        // Both grow by a constant: nvcc would multiply again for each channel.
        int first_tap = at, first_pair = row * pitch1 + column;
        for (int c = 0; c < numbers.depth; ++c, first_tap += taps * together, first_pair += plane1 / 2)
          add_channel(first_tap, first_pair, sums);
      }
      pool(sums, row * pooled_side + column, first);
    }
  }
  /// The first convolution of `depth` channels.
  KOKKOS_FORCEINLINE_FUNCTION void convolve_first(int rank, int c0) const {
    constexpr int run = of_rows.width, parts = pitch1 / run;
    for (int task = rank; task < numbers.depth * rows1 * parts; task += lanes) {
      const int part = task % parts, row = task / parts % rows1, c = task / parts / rows1;
      const int from = row * side + part * run, to = c * plane1 + row * pitch1 + part * run;
      const float bias = on_.s.weights[conv1_biases + c0 + c];
      float sums[run];
      LEAGUE_VECTORISED
      for (int n = 0; n < run; ++n) sums[n] = bias;
      blocks::unrolled<taps>([&](int t) {
        const float weight = on_.s.weights[conv1_weights + (c0 + c) * taps + t];
        LEAGUE_VECTORISED
        for (int n = 0; n < run; ++n) sums[n] += weight * x_(from + t / 3 * side + t % 3 + n);
      });
      LEAGUE_VECTORISED
      for (int n = 0; n < run; ++n) a1_(to + n) = sums[n] > 0 ? sums[n] : 0;
    }
  }
  /// Adds a channel: each value of its rows times the nine weights.
  KOKKOS_FORCEINLINE_FUNCTION void add_channel(int first_tap, int first_pair, Sums& sums) const {
    blocks::unrolled<rows + 2>([&](int r) {
      float x[columns + 2];
      for (int n = 0; n < columns + 2; n += 2) {
        const blocks::LoadedPack<float, 2> pair = pairs_(first_pair + (r * pitch1 + n) / 2);
        x[n] = pair.values[0], x[n + 1] = pair.values[1];
      }
      blocks::unrolled<taps>([&](int t) {
        const int y = r - t / 3;
        if (y < 0 || y >= rows) return;
        for (int v = 0; v < packs; ++v) {
          const blocks::LoadedPack<float, width> tap = weights_((first_tap + t * together) * packs + v);
          for (int n = 0; n < columns; ++n) {
            LEAGUE_VECTORISED
            for (int k = 0; k < width; ++k) sums[y][n][v][k] += tap.values[k] * x[n + t % 3];
          }
        }
      });
    });
  }
  /// The maxima of a lane's windows, the first of which is `window`, and where they are.
  KOKKOS_FORCEINLINE_FUNCTION void pool(const Sums& sums, int window, int first) const {
    blocks::unrolled<numbers.rows * numbers.columns * packs>([&](int n) {
      const int v = n % packs, wx = n / packs % numbers.columns, wy = n / packs / numbers.columns;
      const int to = (window + wy * pooled_side + wx) * pitch + first + v * width;
      float value[width];
      int best[width];
      LEAGUE_VECTORISED
      for (int k = 0; k < width; ++k) value[k] = sums[2 * wy][2 * wx][v][k], best[k] = 0;
      for (int place = 1; place < 4; ++place) {
        LEAGUE_VECTORISED
        for (int k = 0; k < width; ++k) {
          const float other = sums[2 * wy + place / 2][2 * wx + place % 2][v][k];
          best[k] = other > value[k] ? place : best[k];
          value[k] = other > value[k] ? other : value[k];
        }
      }
      LEAGUE_VECTORISED
      for (int k = 0; k < width; ++k) values_(to + k) = value[k];
      LEAGUE_VECTORISED
      for (int k = 0; k < width; ++k) decisions_(to + k) = Decision::of(best[k], value[k] > 0);
    });
  }
  /// Dropout, and the results of a band: [window][channel] becomes [channel][window].
  KOKKOS_FORCEINLINE_FUNCTION void write(int rank, int i, int band) const {
    constexpr int wide = of_pooled.width, runs = band_windows / wide;
    static_assert(band_windows % wide == 0 && windows % wide == 0);
    const Dropout dropout = on_.s.dropout_of(take_);
    const auto scale = dropout.pooled_scale<float>();
    for (int item = rank; item < channels2 * runs; item += lanes) {
      const int o = item / runs, from = item % runs * wide, at = o * windows + band * band_windows + from;
      const std::uint64_t word = dropout.word(take_.step, take_.position(i), at / 32);
      const std::int64_t to = (std::int64_t{i} * pooled + at) / wide;
      blocks::fill_pack(on_.p, to, [&](auto& pack) {
        for (int n = 0; n < wide; ++n) {
          const float value = values_((from + n) * pitch + o);
          pack.values[n] = value > 0 && Dropout::keeps_pooled(word, at + n) ? value * scale : 0;
        }
      });
      if (take_.trains)
        blocks::fill_pack(on_.places, to, [&](auto& pack) {
          for (int n = 0; n < wide; ++n) pack.values[n] = decisions_((from + n) * pitch + o);
        });
    }
  }

  const Member& team_;
  const Forward& on_;
  Take take_;
  Scratch<blocks::PackOf<float, 2>> pairs_;  ///< `a1_`: lanes read two columns together
  Scratch<float> a1_, x_, values_;           ///< [channel][row][column]; pixels; [window][channel]
  Scratch<std::uint8_t> decisions_;
  mutable Staged weights_;  // last: empty on a host
};

LEAGUE_FLAT KOKKOS_FUNCTION inline void Forward::operator()(const Member& team) const { Team(team, *this).run(); }

}  // namespace league::cnn::kokkos_model
