// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/cnn/loops/kokkos_backward.hpp"

/// The convolutions backward, only where pool and dropout pass a gradient: method `routed`.
namespace league::cnn::kokkos_model {

/// `tile`: rows of windows of a team at a time; `columns` output channels and a pack of `width` input channels of a
/// lane, or `rows` neighbouring windows.
inline constexpr Numbers of_routed = blocks::by_kind(
    {.tile = 2, .columns = 8, .width = 1, .rows = 1, .team = 256, .teams = 2}, {.tile = pooled_side,
                                                                                .columns = 1,
                                                                                .width = blocks::host_vector_bytes / 4,
                                                                                .rows = pooled_side,
                                                                                .team = 1,
                                                                                .level = 1});

/// Gradients of both convolutions' weights. A team takes bands of images, `tile` rows of windows each, and lists the
/// windows with a gradient: windows per channel, and channels per window. A lane takes a pack of input channels c.
///   - Second convolution: the nine taps of `columns` output channels o. A window with gradient g at position q adds
///     g a1[c][q + t] to weight (o, c, t).
///   - First: `rows` neighbouring windows. All their channels o add g w2[o][c][t] to the windows' patch of a1's
///     gradient; masked by the ReLU, this is correlated with the windows' pixels. The weights' gradient is linear in
///     a1's gradient: overlapping patches need not be added first.
struct RoutedGradient : Layer {
  static constexpr Numbers numbers = of_routed;
  using Lanes = ChannelPacks<of_routed>;
  static constexpr int width = Lanes::width, packs = Lanes::packs, outputs = numbers.columns, run = numbers.rows;
  static constexpr int bands = pooled_side / numbers.tile, band_windows = numbers.tile * pooled_side;
  static constexpr int rows = 2 * numbers.tile, rows1 = rows + 2, rows0 = rows + 4, own = Lanes::own;
  static constexpr int lanes = numbers.team, items = channels2 / outputs * packs;
  static constexpr int beside = Lanes::beside, apart = Lanes::apart;  ///< lanes of a window, windows at once
  static_assert(items % lanes == 0 && pooled_side % run == 0);

  using Pack = Lanes::Pack;
  using Packs = blocks::Packs<const float, width>;
  /// The gradient of a channel in a window, the position in a1, the position in the window.
  struct Entry {
    float gradient;
    std::int16_t position, place;
  };
  static constexpr int pitch = band_windows + 1;  ///< of a channel's entries; the last one is 0
  static constexpr int pitch_windows = band_windows + 2, pitch_channels = channels2 + 2;  ///< of lists, with their ends
  using Sums = float[outputs][taps][width];

  Packs first, backward2;   ///< see `Memory`
  Vector<const float> d_p;  ///< behind the pool
  Vector<const std::uint8_t> decisions;
  blocks::Packs<float, width> partials;  ///< [teams][fc1_weights / width]

  static int bands_of(int images) { return bands * images; }
  static std::size_t bytes() {
    return Scratch<Pack>::shmem_size(rows1 * side1 * packs) + Scratch<float>::shmem_size(rows0 * side) +
           Scratch<Entry>::shmem_size((channels2 + 1) * pitch) +
           Scratch<std::uint8_t>::shmem_size(channels2 * pitch_windows) +
           Scratch<std::uint8_t>::shmem_size(band_windows * pitch_channels) + Scratch<float>::shmem_size(channels2) +
           64;
  }
  KOKKOS_FUNCTION void operator()(const Member& team) const;

 private:
  class Team;
};

/// A team's work.
class RoutedGradient::Team {
 public:
  KOKKOS_FORCEINLINE_FUNCTION Team(const Member& team, const RoutedGradient& kernel)
      : team_(team),
        on_(kernel),
        take_(kernel.take()),
        rank_(blocks::rank(team)),
        a1_(team.team_scratch(int{numbers.level}), std::size_t{rows1 * side1 * packs}),
        x_(team.team_scratch(int{numbers.level}), std::size_t{rows0 * side}),
        entries_(team.team_scratch(int{numbers.level}), std::size_t{(channels2 + 1) * pitch}),
        biases_(team.team_scratch(int{numbers.level}), std::size_t{channels2}),
        windows_(team.team_scratch(int{numbers.level}), std::size_t{channels2 * pitch_windows}),
        channels_(team.team_scratch(int{numbers.level}), std::size_t{band_windows * pitch_channels}) {}

  KOKKOS_FORCEINLINE_FUNCTION void run_bands() const {
    Sums sums = {};
    Lanes::Sums sums1 = {};
    for (int at = rank_; at < (channels2 + 1) * pitch; at += lanes) entries_(at) = {};
    for (int o = rank_; o < channels2; o += lanes) biases_(o) = 0;
    const std::int64_t out = std::int64_t{team_.league_rank()} * (fc1_weights / width);
    const auto mine = blocks::share(team_.league_rank(), team_.league_size(), bands * take_.count);
    bool left = false;
    for (int item = mine.first; item < mine.end; item += mine.stride) {
      const int i = item / bands, band = item % bands;
      blocks::meet(team_);  // the band before is done
      const std::uint8_t* image = take_.image(i) + band * rows * side;
      for (int at = rank_; at < rows0 * side; at += lanes) x_(at) = pixel<float>(image[at]);
      stage_entries(std::int64_t{i} * pooled + band * band_windows);
      blocks::meet(team_);
      list_and_convolve();
      blocks::meet(team_);
      for (int of = rank_; of < items; of += lanes) {
        blocks::unrolled<outputs>([&](int n) { add_channel(of / packs * outputs + n, of % packs, sums[n]); });
        if (items > lanes) Lanes::leave(on_.partials, out, of, left, sums);
      }
      left = true;
      blocks::unrolled<packs / beside>([&](int n) {
        for (int w = rank_ / beside; w < band_windows / run; w += apart)
          add_windows(w * run, rank_ % beside + n * beside, sums1[n]);
      });
    }
    for (int of = rank_; of < items && (items == lanes || !left); of += lanes)
      Lanes::leave(on_.partials, out, of, false, sums);
    static_assert(Lanes::apart * own <= rows1 * side1);  // there is room in a1
    Lanes::leave_first(team_, a1_, sums1, on_.partials, out);
    Lanes::leave_biases(team_, biases_, on_.partials, out);
  }

 private:
  /// The gradients of a band's windows, of which the first is `from`.
  KOKKOS_FORCEINLINE_FUNCTION void stage_entries(std::int64_t from) const {
    for (int at = rank_; at < channels2 * band_windows; at += lanes) {
      const int o = at / band_windows, window = at % band_windows;
      const int place = Decision::place(on_.decisions(from + o * windows + window));
      const int y = window / pooled_side * 2 + place / 2, x = window % pooled_side * 2 + place % 2;
      entries_(o * pitch + window) = {on_.d_p(from + o * windows + window), static_cast<std::int16_t>(y * side1 + x),
                                      static_cast<std::int16_t>(place)};
    }
  }
  /// Lanes take a list of windows, a list of channels, or half a row of the first convolution's output, in this order:
  /// whole subgroups take either.
  KOKKOS_FORCEINLINE_FUNCTION void list_and_convolve() const {
    constexpr int lists = channels2 + ceil_div(band_windows, 32) * 32;
    for (int task = rank_; task < lists + 2 * rows1 * packs; task += lanes) {
      if (task < channels2)
        list_windows(task);
      else if (task < lists)
        list_channels(task - channels2);
      else
        Lanes::convolve(on_.first, x_, (task - lists) / packs, (task - lists) % packs, a1_);
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION void list_windows(int o) const {
    constexpr int together = 12;
    int count = 0;
    float sum = 0;
    for (int first = 0; first < band_windows; first += together) {
      float gradients[together];
      blocks::unrolled<together>([&](int n) { gradients[n] = entries_(o * pitch + first + n).gradient; });
      blocks::unrolled<together>([&](int n) {
        windows_(o * pitch_windows + count) = static_cast<std::uint8_t>(first + n);
        count += gradients[n] != 0 ? 1 : 0;
        sum += gradients[n];
      });
    }
    for (int n = 0; n < 2; ++n) windows_(o * pitch_windows + count + n) = band_windows;
    biases_(o) += sum;
  }
  KOKKOS_FORCEINLINE_FUNCTION void list_channels(int window) const {
    constexpr int together = 16;
    if (window >= band_windows) return;
    int count = 0;
    for (int first = 0; first < channels2; first += together) {
      float gradients[together];
      blocks::unrolled<together>([&](int n) { gradients[n] = entries_((first + n) * pitch + window).gradient; });
      blocks::unrolled<together>([&](int n) {
        channels_(window * pitch_channels + count) = static_cast<std::uint8_t>(first + n);
        count += gradients[n] != 0 ? 1 : 0;
      });
    }
    for (int n = 0; n < 2; ++n) channels_(window * pitch_channels + count + n) = channels2;
  }
  /// Adds the windows of channel o to its weights, two at a time.
  KOKKOS_FORCEINLINE_FUNCTION void add_channel(int o, int pack, float (&sums)[taps][width]) const {
    int at = o * pitch_windows;
    for (int window = windows_(at); window < band_windows; window = windows_(at += 2)) {
      const Entry both[2] = {entries_(o * pitch + window), entries_(o * pitch + windows_(at + 1))};
      for (const Entry& entry : both)
        blocks::unrolled<taps>([&](int t) {
          const blocks::LoadedPack<float, width> a1 = a1_((entry.position + t / 3 * side1 + t % 3) * packs + pack);
          LEAGUE_VECTORISED
          for (int k = 0; k < width; ++k) sums[t][k] += entry.gradient * a1.values[k];
        });
    }
  }
  /// Adds `run` windows to the first convolution's weights.
  KOKKOS_FORCEINLINE_FUNCTION void add_windows(int window, int pack, float (&sums)[own][width]) const {
    constexpr int columns = 2 * run + 2;
    float patch[4][columns][width] = {};
    for (int w = 0; w < run; ++w) {
      int at = (window + w) * pitch_channels;
      for (int o = channels_(at); o < channels2; o = channels_(at += 2)) {
        const int both[2] = {o, channels_(at + 1)};
        for (const int channel : both) add_patch(entries_(channel * pitch + window + w), channel, w, pack, patch);
      }
    }
    const int y = window / pooled_side * 2, x = window % pooled_side * 2;
    blocks::unrolled<4>([&](int py) {
      for (int px = 0; px < columns; ++px) {
        const blocks::LoadedPack<float, width> a1 = a1_(((y + py) * side1 + x + px) * packs + pack);
        LEAGUE_VECTORISED
        for (int k = 0; k < width; ++k) {
          patch[py][px][k] = a1.values[k] > 0 ? patch[py][px][k] : 0;
          sums[taps][k] += patch[py][px][k];
        }
      }
    });
    blocks::unrolled<6>([&](int r) {
      float row[columns + 2];
      for (int n = 0; n < columns + 2; ++n) row[n] = x_((y + r) * side + x + n);
      blocks::unrolled<3>([&](int ky) {
        const int py = r - ky;
        if (py < 0 || py >= 4) return;
        for (int px = 0; px < columns; ++px)
          blocks::unrolled<3>([&](int kx) {
            LEAGUE_VECTORISED
            for (int k = 0; k < width; ++k) sums[ky * 3 + kx][k] += patch[py][px][k] * row[px + kx];
          });
      });
    });
  }
  /// Adds a channel of window w to the patch of a1's gradient.
  template <int columns>
  KOKKOS_FORCEINLINE_FUNCTION void add_patch(const Entry& entry, int channel, int w, int pack,
                                             float (&patch)[4][columns][width]) const {
    const int from = channel % channels2 * taps * packs + pack;
    blocks::unrolled<4>([&](int place) {
      if (entry.place == place)
        blocks::unrolled<taps>([&](int t) {
          const blocks::LoadedPack<float, width> weights = on_.backward2(from + t * packs);
          float (&to)[width] = patch[place / 2 + t / 3][2 * w + place % 2 + t % 3];
          LEAGUE_VECTORISED
          for (int k = 0; k < width; ++k) to[k] += entry.gradient * weights.values[k];
        });
    });
  }

  const Member& team_;
  const RoutedGradient& on_;
  Take take_;
  int rank_;
  Scratch<Pack> a1_;                          ///< [position][packs of channels]
  Scratch<float> x_;                          ///< pixels
  Scratch<Entry> entries_;                    ///< [channel][pitch]
  Scratch<float> biases_;                     ///< sums of the gradients of each channel
  Scratch<std::uint8_t> windows_, channels_;  ///< lists: [channel][windows], [window][channels]; they end with two more
};

KOKKOS_FUNCTION inline void RoutedGradient::operator()(const Member& team) const { Team(team, *this).run_bands(); }

}  // namespace league::cnn::kokkos_model
