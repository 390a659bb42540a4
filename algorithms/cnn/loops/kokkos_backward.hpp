// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/cnn/loops/kokkos_memory.hpp"

/// What the kernels of the convolutions' backward pass share.
namespace league::cnn::kokkos_model {

/// Lanes of the kernel with these numbers, which take packs of the first convolution's channels.
template <const Numbers& numbers>
struct ChannelPacks {
  static constexpr int width = numbers.width, packs = channels1 / width, lanes = numbers.team;
  static constexpr int beside = std::min(packs, lanes), apart = lanes / beside;  ///< lanes with all packs; such rows
  static constexpr int own = taps + 1;  ///< sums of a channel of the first convolution: its weights, its bias
  static_assert(packs % beside == 0 && lanes % beside == 0);

  using Pack = blocks::PackOf<float, width>;
  using Sums = float[packs / beside][own][width];

  /// Half a row of the first convolution's output, as [position][packs]; `x`: rows of pixels.
  template <class First, class Pixels, class Output>
  KOKKOS_FORCEINLINE_FUNCTION static void convolve(const First& first, const Pixels& x, int half, int pack,
                                                   const Output& a1) {
    constexpr int across = side1 / 2;
    const int row = half / 2, column = half % 2 * across;
    float sums[across][width];
    for (int n = 0; n < across; ++n) load(first(taps * packs + pack), sums[n]);
    blocks::unrolled<taps>([&](int t) {
      float weights[width];
      load(first(t * packs + pack), weights);
      for (int n = 0; n < across; ++n) {
        const float pixel = x((row + t / 3) * side + column + t % 3 + n);
        LEAGUE_VECTORISED
        for (int k = 0; k < width; ++k) sums[n][k] += weights[k] * pixel;
      }
    });
    for (int n = 0; n < across; ++n)
      blocks::fill_pack(a1, (row * side1 + column + n) * packs + pack, [&](auto& to) {
        LEAGUE_VECTORISED
        for (int k = 0; k < width; ++k) to.values[k] = sums[n][k] > 0 ? sums[n][k] : 0;
      });
  }
  /// Stores `outputs` x 9 sums of the second convolution's weights to those of a team, from pack `out` on, or adds
  /// them; then they are 0. `item`: the lane's outputs and pack.
  template <class To, int outputs>
  KOKKOS_FORCEINLINE_FUNCTION static void leave(const To& partials, std::int64_t out, int item, bool add,
                                                float (&sums)[outputs][taps][width]) {
    for (int n = 0; n < outputs; ++n)
      for (int t = 0; t < taps; ++t) {
        const std::int64_t at = out + ((item / packs * outputs + n) * taps + t) * packs + item % packs;
        if (add) {
          const blocks::LoadedPack<float, width> before = partials(at);
          LEAGUE_VECTORISED
          for (int k = 0; k < width; ++k) sums[n][t][k] += before.values[k];
        }
        blocks::fill_pack(partials, at, [&](auto& to) {
          LEAGUE_VECTORISED
          for (int k = 0; k < width; ++k) to.values[k] = sums[n][t][k];
        });
        LEAGUE_VECTORISED
        for (int k = 0; k < width; ++k) sums[n][t][k] = 0;
      }
  }
  /// Values of scratch that `leave_first` takes.
  static constexpr int room_values = apart * own * channels1;
  /// Stores the sums of the first convolution's weights and biases over all lanes.
  template <class To>
  KOKKOS_FORCEINLINE_FUNCTION static void leave_first(const Member& team, const Scratch<float>& room, const Sums& sums,
                                                      const To& partials, std::int64_t out) {
    const int rank = blocks::rank(team);
    blocks::meet(team);
    for (int n = 0; n < packs / beside; ++n)
      for (int t = 0; t < own; ++t) {
        const int to = (rank / beside * own + t) * channels1 + (rank % beside + n * beside) * width;
        LEAGUE_VECTORISED
        for (int k = 0; k < width; ++k) room(to + k) = sums[n][t][k];
      }
    blocks::meet(team);
    for (int at = rank; at < own * packs; at += lanes) {
      float sum[width] = {};
      for (int other = 0; other < apart; ++other) {
        LEAGUE_VECTORISED
        for (int k = 0; k < width; ++k) sum[k] += room((other * own * packs + at) * width + k);
      }
      blocks::fill_pack(partials, out + Partials::weights1 / width + at, [&](auto& to) {
        LEAGUE_VECTORISED
        for (int k = 0; k < width; ++k) to.values[k] = sum[k];
      });
    }
  }
  /// Stores the sums of the second convolution's biases.
  template <class Biases, class To>
  KOKKOS_FORCEINLINE_FUNCTION static void leave_biases(const Member& team, const Biases& biases, const To& partials,
                                                       std::int64_t out) {
    for (int at = blocks::rank(team); at < channels2 / width; at += lanes)
      blocks::fill_pack(partials, out + Partials::biases2 / width + at, [&](auto& to) {
        LEAGUE_VECTORISED
        for (int k = 0; k < width; ++k) to.values[k] = biases(at * width + k);
      });
  }
};

}  // namespace league::cnn::kokkos_model
