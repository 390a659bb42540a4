// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/cnn/loops/kokkos_backward.hpp"

/// The convolutions backward over all positions: method `direct`.
namespace league::cnn::kokkos_model {

/// `tile`: rows of windows of a team at a time; `columns` output channels and a pack of `width` input channels of a
/// lane; `depth` positions are unrolled.
inline constexpr Numbers of_weights = blocks::by_kind(
    {.tile = 1, .columns = 8, .width = 1, .depth = 3, .team = 256, .teams = 2}, {.tile = pooled_side,
                                                                                 .columns = blocks::host_vectors / 16,
                                                                                 .width = blocks::host_vector_bytes / 4,
                                                                                 .depth = 1,
                                                                                 .team = 1,
                                                                                 .level = 1});

/// Gradient of the second convolution's weights. A team takes bands of images; a lane has the nine taps of some
/// outputs.
struct Conv2Gradient : BatchKernel {
  static constexpr Numbers numbers = of_weights;
  using Lanes = ChannelPacks<of_weights>;
  static constexpr int width = Lanes::width, packs = Lanes::packs, outputs = numbers.columns, depth = numbers.depth;
  static constexpr int bands = pooled_side / numbers.tile, band_windows = numbers.tile * pooled_side;
  static constexpr int rows = 2 * numbers.tile, rows1 = rows + 2, rows0 = rows + 4;
  static constexpr int lanes = numbers.team, items = channels2 / outputs * packs;
  static_assert(items % lanes == 0 && side2 % depth == 0);

  using Outputs = blocks::PackOf<float, outputs>;
  using Packs = blocks::Packs<const float, width>;

  Packs first;              ///< see `Memory`
  Vector<const float> d_p;  ///< behind the pool
  Vector<const std::uint8_t> decisions;
  blocks::Packs<float, width> partials;  ///< [teams][fc1_weights / width]

  static std::size_t bytes() {
    return Scratch<Lanes::Pack>::shmem_size(rows1 * side1 * packs) +
           Scratch<Outputs>::shmem_size(rows * side2 * channels2 / outputs) + Scratch<float>::shmem_size(rows0 * side) +
           Scratch<float>::shmem_size(channels2);
  }
  LEAGUE_FLAT KOKKOS_FUNCTION void operator()(const Member& team) const {
    const auto& room = team.team_scratch(int{numbers.level});
    const Scratch<Lanes::Pack> a1(room, std::size_t{rows1 * side1 * packs});
    const Scratch<Outputs> d(room, std::size_t{rows * side2 * channels2 / outputs});
    const Scratch<float> x(room, std::size_t{rows0 * side}), biases(room, std::size_t{channels2});
    const Take images = take();
    const int rank = blocks::rank(team);
    const std::int64_t out = std::int64_t{team.league_rank()} * (fc1_weights / width);
    const auto mine = blocks::share(team.league_rank(), team.league_size(), bands * images.count);
    float sums[outputs][taps][width] = {};
    for (int o = rank; o < channels2; o += lanes) biases(o) = 0;
    bool left = false;
    for (int band = mine.first; band < mine.end; band += mine.stride) {
      const int i = band / bands, top = band % bands * rows;
      blocks::meet(team);  // the band before is done
      const std::uint8_t* image = images.image(i) + top * side;
      for (int at = rank; at < rows0 * side; at += lanes) x(at) = pixel<float>(image[at]);
      blocks::meet(team);
      for (int task = rank; task < 2 * rows1 * packs; task += lanes)
        Lanes::convolve(first, x, task / packs, task % packs, a1);
      stage(rank, std::int64_t{i} * pooled + band % bands * band_windows, d);
      blocks::meet(team);
      for (int o = rank; o < channels2; o += lanes)
        add_bias(std::int64_t{i} * pooled + band % bands * band_windows, o, biases);
      for (int item = rank; item < items; item += lanes) {
        for (int y = 0; y < rows; ++y) add_row(a1, d, y, item, sums);
        if (items > lanes) Lanes::leave(partials, out, item, left, sums);
      }
      left = true;
    }
    blocks::meet(team);
    for (int item = rank; item < items && (items == lanes || !left); item += lanes)
      Lanes::leave(partials, out, item, false, sums);
    Lanes::leave_biases(team, biases, partials, out);
  }

 private:
  /// The gradients of a band's windows as [position][channel], 0 where the pool chose another position.
  KOKKOS_FORCEINLINE_FUNCTION void stage(int rank, std::int64_t from, const Scratch<Outputs>& d) const {
    for (int at = rank; at < channels2 * band_windows; at += lanes) {
      const int o = at % channels2, window = at / channels2;
      const int y = window / pooled_side * 2, x = window % pooled_side * 2;
      const float value = d_p(from + o * windows + window);
      const int place = Decision::place(decisions(from + o * windows + window));
      const auto gradient = [&](int at_place) -> float& {
        const int position = (y + at_place / 2) * side2 + x + at_place % 2;
        return d((position * channels2 + o) / outputs).values[o % outputs];
      };
      for (int other = 0; other < 4; ++other) gradient(other) = 0;
      gradient(place) = value;
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION void add_bias(std::int64_t from, int o, const Scratch<float>& biases) const {
    float sum = 0;
    for (int window = 0; window < band_windows; ++window) sum += d_p(from + o * windows + window);
    biases(o) += sum;
  }
  /// Adds a row of positions.
  KOKKOS_FORCEINLINE_FUNCTION static void add_row(const Scratch<Lanes::Pack>& a1, const Scratch<Outputs>& d, int y,
                                                  int item, float (&sums)[outputs][taps][width]) {
    const int first = item / packs, pack = item % packs;
    for (int x0 = 0; x0 < side2; x0 += depth)
      blocks::unrolled<depth>([&](int n) {
        const int x = x0 + n;
        const blocks::LoadedPack<float, outputs> gradients = d((y * side2 + x) * (channels2 / outputs) + first);
        blocks::unrolled<taps>([&](int t) {
          float values[width];
          load(a1(((y + t / 3) * side1 + x + t % 3) * packs + pack), values);
          for (int o = 0; o < outputs; ++o) {
            LEAGUE_VECTORISED
            for (int k = 0; k < width; ++k) sums[o][t][k] += gradients.values[o] * values[k];
          }
        });
      });
  }
};

/// `tile`: output channels of a team, `depth` of which are in scratch at a time; a lane takes a pack of `width` input
/// channels of `rows` x `columns` positions, and loads `height` gradients of a row together.
inline constexpr Numbers of_inputs = blocks::by_kind({.tile = channels2 / 2,
                                                      .columns = side1,
                                                      .width = 1,
                                                      .rows = 2,
                                                      .height = 4,
                                                      .depth = 8,
                                                      .team = side1 / 2 * channels1,
                                                      .teams = 1},
                                                     {.tile = channels2,
                                                      .columns = side1 / 2,
                                                      .width = blocks::host_vector_bytes / 4,
                                                      .rows = 1,
                                                      .height = 1,
                                                      .depth = channels2,
                                                      .team = 1,
                                                      .level = 1});

/// Gradient of the first convolution's weights, back through the second one. A team takes a part of the output channels
/// of images, zero-padded by two.
struct Conv1Gradient : BatchKernel {
  static constexpr Numbers numbers = of_inputs;
  using Lanes = ChannelPacks<of_inputs>;
  static constexpr int width = Lanes::width, packs = Lanes::packs, rows = numbers.rows, columns = numbers.columns;
  static constexpr int parts = channels2 / numbers.tile, depth = numbers.depth, lanes = numbers.team;
  static constexpr int wide = side2 + 4, plane = wide * wide, across = side1 / columns, cells = side1 / rows * across;
  static_assert(cells * packs % lanes == 0 && (cells * packs == lanes || depth == numbers.tile));
  static_assert(side1 % rows == 0 && side1 % columns == 0);

  using Packs = blocks::Packs<const float, width>;
  using Sums = float[rows][columns][width];

  Packs first, backward2;   ///< see `Memory`
  Vector<const float> d_p;  ///< behind the pool
  Vector<const std::uint8_t> decisions;
  blocks::Packs<float, width> partials;  ///< [teams][fc1_weights / width]

  /// Columns of the gradients of some channels, and at the end the lanes' sums.
  static constexpr int together = numbers.height;
  using Columns = blocks::PackOf<float, together>;
  static constexpr int d_size = depth * plane, d_packs = std::max(d_size, Lanes::room_values) / together;
  static_assert(wide % together == 0 && (columns + 2) % together == 0 && d_size % together == 0);
  static std::size_t bytes() { return Scratch<Columns>::shmem_size(d_packs) + Scratch<float>::shmem_size(pixels); }
  LEAGUE_FLAT KOKKOS_FUNCTION void operator()(const Member& team) const {
    const auto& space = team.team_scratch(int{numbers.level});
    const Scratch<Columns> columns_of(space, std::size_t{d_packs});
    const Scratch<float> d(&columns_of(0).values[0], std::size_t{d_packs * together});
    const Scratch<float> x(space, std::size_t{pixels});
    const Take images = take();
    const int rank = blocks::rank(team);
    const std::int64_t out = std::int64_t{team.league_rank()} * (fc1_weights / width);
    const auto mine = blocks::share(team.league_rank(), team.league_size(), parts * images.count);
    typename Lanes::Sums total = {};
    for (int at = rank; at < d_size; at += lanes) d(at) = 0;  // the padding stays 0
    for (int part = mine.first; part < mine.end; part += mine.stride) {
      const int i = part / parts, first_o = part % parts * numbers.tile;
      blocks::meet(team);  // the part before is done
      const std::uint8_t* image = images.image(i);
      for (int at = rank; at < pixels; at += lanes) x(at) = pixel<float>(image[at]);
      int there = -1;  // the first channel in scratch
      for (int n = 0; n < packs / Lanes::beside; ++n) {
        const int pack = rank % Lanes::beside + n * Lanes::beside;
        for (int cell = rank / Lanes::beside; cell < cells; cell += Lanes::apart) {
          const int row = cell / across * rows, column = cell % across * columns;
          Sums sums = {};
          for (int o0 = first_o; o0 < first_o + numbers.tile; o0 += depth) {
            if (o0 != there) {
              blocks::meet(team);
              stage(rank, std::int64_t{i} * pooled + o0 * windows, d);
              blocks::meet(team);
              there = o0;
            }
            for (int o = 0; o < depth; ++o)
              add_channel(columns_of, o * plane + row * wide + column, (o0 + o) * taps * packs + pack, sums);
          }
          add_weights(x, row * side + column, pack, sums, total[n]);
        }
      }
    }
    Lanes::leave_first(team, d, total, partials, out);
  }

 private:
  /// The gradients of the windows of `depth` channels, as [channel][y][x].
  KOKKOS_FORCEINLINE_FUNCTION void stage(int rank, std::int64_t from, const Scratch<float>& d) const {
    for (int at = rank; at < depth * windows; at += lanes) {
      const int o = at / windows, window = at % windows;
      const int to = o * plane + (window / pooled_side * 2 + 2) * wide + window % pooled_side * 2 + 2;
      const float value = d_p(from + at);
      const int place = Decision::place(decisions(from + at));
      for (int other = 0; other < 4; ++other) d(to + other / 2 * wide + other % 2) = 0;
      d(to + place / 2 * wide + place % 2) = value;
    }
  }
  /// Adds an output channel: the nine weights backwards.
  KOKKOS_FORCEINLINE_FUNCTION void add_channel(const Scratch<Columns>& d, int from, int weights, Sums& sums) const {
    blocks::unrolled<rows + 2>([&](int r) {
      float values[columns + 2];
      for (int n = 0; n < columns + 2; n += together) {
        const blocks::LoadedPack<float, together> pack = d((from + r * wide + n) / together);
        for (int k = 0; k < together; ++k) values[n + k] = pack.values[k];
      }
      blocks::unrolled<taps>([&](int t) {
        const int y = r - t / 3;
        if (y < 0 || y >= rows) return;
        float weight[width];
        load(backward2(weights + (taps - 1 - t) * packs), weight);
        for (int n = 0; n < columns; ++n) {
          LEAGUE_VECTORISED
          for (int k = 0; k < width; ++k) sums[y][n][k] += weight[k] * values[n + t % 3];
        }
      });
    });
  }
  /// Back through the ReLU, whose input is computed again, into the weights.
  KOKKOS_FORCEINLINE_FUNCTION void add_weights(const Scratch<float>& x, int from, int pack, const Sums& sums,
                                               float (&total)[Lanes::own][width]) const {
    blocks::unrolled<rows>([&](int r) {
      blocks::unrolled<columns>([&](int n) {
        float z[width], value[width];
        load(first(taps * packs + pack), z);
        for (int t = 0; t < taps; ++t) {
          float weights[width];
          load(first(t * packs + pack), weights);
          const float pixel = x(from + (r + t / 3) * side + n + t % 3);
          LEAGUE_VECTORISED
          for (int k = 0; k < width; ++k) z[k] += weights[k] * pixel;
        }
        LEAGUE_VECTORISED
        for (int k = 0; k < width; ++k) value[k] = z[k] > 0 ? sums[r][n][k] : 0, total[taps][k] += value[k];
        for (int t = 0; t < taps; ++t) {
          const float pixel = x(from + (r + t / 3) * side + n + t % 3);
          LEAGUE_VECTORISED
          for (int k = 0; k < width; ++k) total[t][k] += value[k] * pixel;
        }
      });
    });
  }
};

}  // namespace league::cnn::kokkos_model
