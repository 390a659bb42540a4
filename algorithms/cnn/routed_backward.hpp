// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/cnn/partials.hpp"

/// The convolutions on GPUs, backward only where pool and dropout pass a gradient: method `routed`.
namespace league::cnn {

/// Gradients of both convolutions' weights. A team takes bands of images, two rows of windows each, and lists the
/// windows with a gradient: windows per channel, and channels per window. A lane is an input channel c.
///   - Second convolution: a warp takes 8 output channels o, 72 sums. A window with gradient g at position q adds
///     g a1[c][q + t] to weight (o, c, t).
///   - First: a warp takes a window at a time. All its channels o add g w2[o][c][t] to the window's 4x4 patch of a1's
///     gradient; masked by the ReLU, this is correlated with the window's 6x6 pixels. The weights' gradient is linear
///     in a1's gradient, a sum over windows: overlapping patches need not be added first.
struct RoutedGradient {
  static constexpr int threads = 256, min_teams = 2, warps = threads / channels1, outputs = channels2 / warps;
  static constexpr int bands = 6, window_rows = pooled_side / bands, band_windows = window_rows * pooled_side;
  static constexpr int rows = 2 * window_rows, rows1 = rows + 2, rows0 = rows + 4;
  static constexpr int a1_size = rows1 * side1 * channels1, x_size = rows0 * side, own = taps + 1;
  /// The gradient of a channel in a window, the position in a1, the position in the window.
  struct Entry {
    float gradient;
    std::int16_t position, place;
  };
  static constexpr int pitch = band_windows + 1;  ///< of a channel's entries: padded against bank conflicts
  /// In scratch. Lists of window indices per channel, and of channels per window; each ends with a sentinel whose entry
  /// is 0, so that two can be processed at a time.
  struct Band {
    float a1[a1_size];  ///< [position][channel]
    float x[x_size];
    Entry entries[(channels2 + 1) * pitch];
    std::uint8_t windows_of[channels2][band_windows + 2], channels_of[band_windows][channels2 + 2];
  };
  static constexpr int scratch_bytes = static_cast<int>(sizeof(Band) + 15) / 16 * 16;
  static_assert(scratch_bytes <= 40'000 && warps * own * channels1 <= a1_size && x_size <= threads);

  LEAGUE_FUNCTION static int items(int images) { return bands * images; }
  template <class Barrier>
  LEAGUE_FUNCTION static void run(const blocks::Group<Barrier>& group, const State& s, const GpuMemory& memory,
                                  const Take& take, int team, int teams, float* scratch) {
    Band& band = *reinterpret_cast<Band*>(scratch);
    const int rank = group.rank, c = rank % channels1, warp = rank / channels1;
    float sums[outputs][taps] = {}, sums1[own] = {}, bias = 0;
    for (int at = rank; at < (channels2 + 1) * pitch; at += threads) band.entries[at] = {};
    for (int item = team; item < items(take.count); item += teams) {
      const int i = item / bands, number = item % bands;
      group.barrier();
      if (rank < x_size) band.x[rank] = pixel<float>(take.image(i)[number * rows * side + rank]);
      stage_entries(s, i, number, rank, band);
      group.barrier();
      bias += list_and_convolve(s, c, warp, band);
      group.barrier();
      blocks::unrolled<outputs>([&](int k) { add_channel(band, warp * outputs + k, c, sums[k]); });
      for (int window = warp; window < band_windows; window += warps) add_window(memory, band, window, c, sums1);
    }
    float* out = memory.partials + std::int64_t{team} * fc1_weights;
    for (int k = 0; k < outputs; ++k)
      for (int t = 0; t < taps; ++t)
        out[Partials::weights2 + ((warp * outputs + k) * taps + t) * channels1 + c] = sums[k][t];
    if (rank < channels2) out[Partials::biases2 + rank] = bias;
    group.barrier();
    for (int t = 0; t < own; ++t) scratch[(warp * own + t) * channels1 + c] = sums1[t];
    group.barrier();
    for (int at = rank; at < channels1 * own; at += threads) {
      float sum = 0;
      for (int other = 0; other < warps; ++other) sum += scratch[other * own * channels1 + at];
      const int t = at / channels1, channel = at % channels1;
      out[t < taps ? Partials::weights1 + channel * taps + t : Partials::biases1 + channel] = sum;
    }
  }

 private:
  /// Stages four neighbouring windows of a channel at a time.
  LEAGUE_FUNCTION static void stage_entries(const State& s, int i, int number, int rank, Band& band) {
    constexpr int fours = band_windows / 4;
    for (int at = rank; at < channels2 * fours; at += threads) {
      const int o = at / fours, first = at % fours * 4;
      const std::int64_t from = std::int64_t{i} * pooled + o * windows + number * band_windows + first;
      const Four gradients = *reinterpret_cast<const Four*>(s.d_p + from);
      const auto decisions = *reinterpret_cast<const std::uint32_t*>(s.pool_decisions + from);
      blocks::unrolled<4>([&](int n) {
        const int place = Decision::place(static_cast<std::uint8_t>(decisions >> 8 * n));
        const int y = (first + n) / pooled_side * 2 + place / 2, x = (first + n) % pooled_side * 2 + place % 2;
        band.entries[o * pitch + first + n] = {gradients.values[n], static_cast<std::int16_t>(y * side1 + x),
                                               static_cast<std::int16_t>(place)};
      });
    }
  }
  /// One task per warp: first the lists, then half a row of the first convolution's output. @returns for the first
  /// threads, one per channel, the sum of its gradients
  LEAGUE_FUNCTION static float list_and_convolve(const State& s, int c, int warp, Band& band) {
    constexpr int across = side1 / 2, channel_tasks = channels2 / 32, lists = channel_tasks + 1;
    float sum = 0;
    for (int task = warp; task < lists + 2 * rows1; task += warps) {
      if (task < channel_tasks) {
        std::uint8_t* list = band.windows_of[task * 32 + c];
        int count = 0;
        float gradients[band_windows];
        blocks::unrolled<band_windows>(
            [&](int n) { gradients[n] = band.entries[(task * 32 + c) * pitch + n].gradient; });
        blocks::unrolled<band_windows>([&](int n) {
          if (gradients[n] != 0) list[count++] = static_cast<std::uint8_t>(n);
          sum += gradients[n];
        });
        list[count] = list[count + 1] = band_windows;
      } else if (task < lists) {
        if (c >= band_windows) continue;
        constexpr int together = 16;
        int count = 0;
        for (int o = 0; o < channels2; o += together) {
          float gradients[together];
          blocks::unrolled<together>([&](int n) { gradients[n] = band.entries[(o + n) * pitch + c].gradient; });
          blocks::unrolled<together>([&](int n) {
            if (gradients[n] != 0) band.channels_of[c][count++] = static_cast<std::uint8_t>(o + n);
          });
        }
        band.channels_of[c][count] = band.channels_of[c][count + 1] = channels2;
      } else {
        const int row = (task - lists) / 2, column = (task - lists) % 2 * across;
        float kernel[taps];
        for (int t = 0; t < taps; ++t) kernel[t] = s.weights[conv1_weights + c * taps + t];
        convolve_row<across>(
            kernel, s.weights[conv1_biases + c], band.x + row * side + column,
            [to = band.a1 + (row * side1 + column) * channels1 + c](int n, float value) { to[n * channels1] = value; });
      }
    }
    return sum;
  }
  /// Adds the windows of channel o to its weights.
  LEAGUE_FUNCTION static void add_channel(const Band& band, int o, int c, float (&sums)[taps]) {
    const std::uint8_t* list = band.windows_of[o];
    for (int first = *list; first < band_windows; first = *(list += 2)) {
      const Entry entries[2] = {band.entries[o * pitch + first], band.entries[o * pitch + list[1]]};
      for (const Entry& entry : entries) {
        const float* a1 = band.a1 + entry.position * channels1 + c;
        blocks::unrolled<taps>([&](int t) { sums[t] += entry.gradient * a1[(t / 3 * side1 + t % 3) * channels1]; });
      }
    }
  }
  /// Adds a window to the first convolution's weights.
  LEAGUE_FUNCTION static void add_window(const GpuMemory& memory, const Band& band, int window, int c,
                                         float (&sums)[own]) {
    const std::uint8_t* list = band.channels_of[window];
    if (*list == channels2) return;
    float patch[4][4] = {};
    for (int first = *list; first < channels2; first = *(list += 2)) {
      const int both[2] = {first, list[1]};
      float kernels[2][taps];
      for (int k = 0; k < 2; ++k)
        for (int t = 0; t < taps; ++t)
          kernels[k][t] = memory.backward2[(both[k] % channels2 * taps + t) * channels1 + c];
      for (int k = 0; k < 2; ++k) {
        const Entry entry = band.entries[both[k] * pitch + window];
        blocks::unrolled<4>([&](int place) {
          if (entry.place == place)
            blocks::unrolled<taps>(
                [&](int t) { patch[place / 2 + t / 3][place % 2 + t % 3] += entry.gradient * kernels[k][t]; });
        });
      }
    }
    const int y = window / pooled_side * 2, x = window % pooled_side * 2;
    blocks::unrolled<16>([&](int n) {
      if (band.a1[((y + n / 4) * side1 + x + n % 4) * channels1 + c] <= 0) patch[n / 4][n % 4] = 0;
      sums[taps] += patch[n / 4][n % 4];
    });
    blocks::unrolled<6>([&](int r) {
      float row[6];
      for (int n = 0; n < 6; ++n) row[n] = band.x[(y + r) * side + x + n];
      blocks::unrolled<taps * 4>([&](int n) {
        const int t = n / 4, px = n % 4, py = r - t / 3;
        if (py >= 0 && py < 4) sums[t] += patch[py][px] * row[px + t % 3];
      });
    });
  }
};

}  // namespace league::cnn
