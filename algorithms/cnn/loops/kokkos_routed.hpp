// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/cnn/loops/kokkos_backward.hpp"

/// The convolutions backward, only where pool and dropout pass a gradient: method `routed`.
namespace league::cnn::kokkos_model {

/// `tile`: rows of windows of a team at a time; `columns` output channels and a pack of `width` input channels of a
/// lane, or `rows` x `values` windows, `depth` gradients of which together.
inline constexpr Numbers of_routed =
    blocks::by_kind({.tile = 2, .columns = 8, .width = 1, .rows = 1, .depth = 2, .values = 1, .team = 256, .teams = 2},
                    {.tile = pooled_side,
                     .columns = 1,
                     .width = blocks::host_vector_bytes / 4,
                     .rows = pooled_side,
                     .depth = 1,
                     .values = pooled_side,
                     .team = 1,
                     .level = 1});

/// Gradients of both convolutions' weights. A team takes bands of images, `tile` rows of windows each, and lists the
/// windows with a gradient: windows per channel, and channels per window. A lane takes a pack of input channels c.
///   - Second convolution: the nine taps of `columns` output channels o. A window with gradient g at position q adds
///     g a1[c][q + t] to weight (o, c, t).
///   - First: some neighbouring windows. All their channels o add g w2[o][c][t] to the windows' patch of a1's
///     gradient; masked by the ReLU, this is correlated with the windows' pixels. The weights' gradient is linear in
///     a1's gradient: overlapping patches need not be added first.
struct RoutedGradient : BatchKernel {
  static constexpr Numbers numbers = of_routed;
  using Lanes = ChannelPacks<of_routed>;
  static constexpr int width = Lanes::width, packs = Lanes::packs, outputs = numbers.columns;
  static constexpr int depth = numbers.depth;  ///< entries at a time; lists end with two more
  static constexpr int down = numbers.rows, across = numbers.values, run = down * across;  ///< windows of a lane
  static constexpr int bands = pooled_side / numbers.tile, band_windows = numbers.tile * pooled_side;
  static constexpr int rows = 2 * numbers.tile, rows1 = rows + 2, rows0 = rows + 4, own = Lanes::own;
  static constexpr int lanes = numbers.team, items = channels2 / outputs * packs;
  static constexpr int beside = Lanes::beside, apart = Lanes::apart;  ///< lanes of a window, windows at once
  static_assert(items % lanes == 0 && pooled_side % across == 0 && numbers.tile % down == 0);

  using Pack = Lanes::Pack;
  using Packs = blocks::Packs<const float, width>;
  static constexpr int pitch = band_windows + 1,
                       entries = (channels2 + 1) * pitch;  ///< of a channel; the last one is 0
  static constexpr int runs = band_windows / run;
  static constexpr int lists = channels2 + ceil_div(runs, 32) * 32;  ///< of a band, those of runs in whole subgroups
  static constexpr int pitch_windows = band_windows + 2,
                       pitch_run = channels2 * run + 2;  ///< of lists, with their ends
  using Sums = float[outputs][taps][width];
  static constexpr int wide = packs / beside;  ///< packs of a lane
  static constexpr int patch_columns = 2 * across + 2, patch_size = (2 * down + 2) * patch_columns;
  using Patch = float[wide][patch_size][width];

  Packs first, backward2;                           ///< see `Memory`
  blocks::Packs<const float, of_pooled.width> d_p;  ///< behind the pool
  blocks::Packs<const std::uint8_t, of_pooled.width> decisions;
  blocks::Packs<float, width> partials;  ///< [teams][fc1_weights / width]

  static int bands_of(int images) { return bands * images; }
  static std::size_t bytes() {
    return Scratch<Pack>::shmem_size(rows1 * side1 * packs) + Scratch<float>::shmem_size(rows0 * side) +
           Scratch<float>::shmem_size(entries) + Scratch<std::int16_t>::shmem_size(entries) +
           Scratch<std::int16_t>::shmem_size(band_windows) + Scratch<float>::shmem_size(channels2) +
           Scratch<int>::shmem_size(runs * pitch_run) + Scratch<std::uint8_t>::shmem_size(channels2 * pitch_windows);
  }
  LEAGUE_FLAT KOKKOS_FUNCTION void operator()(const Member& team) const;

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
        gradients_(team.team_scratch(int{numbers.level}), std::size_t{entries}),
        places_(team.team_scratch(int{numbers.level}), std::size_t{entries}),
        corners_(team.team_scratch(int{numbers.level}), std::size_t{band_windows}),
        biases_(team.team_scratch(int{numbers.level}), std::size_t{channels2}),
        channels_(team.team_scratch(int{numbers.level}), std::size_t{runs * pitch_run}),
        windows_(team.team_scratch(int{numbers.level}), std::size_t{channels2 * pitch_windows}) {}

  KOKKOS_FORCEINLINE_FUNCTION void run_bands() const {
    Sums sums = {};
    Lanes::Sums sums1 = {};
    for (int at = rank_; at < entries; at += lanes) gradients_(at) = 0, places_(at) = 0;
    for (int w = rank_; w < band_windows; w += lanes)
      corners_(w) = static_cast<std::int16_t>(4 * (w / pooled_side * 2 * side1 + w % pooled_side * 2));
    for (int o = rank_; o < channels2; o += lanes) biases_(o) = 0;
    const std::int64_t out = std::int64_t{team_.league_rank()} * (fc1_weights / width);
    const auto mine = blocks::share(team_.league_rank(), team_.league_size(), bands * take_.count);
    bool left = false;
    for (int item = mine.first; item < mine.end; item += mine.stride) {
      const int i = item / bands, band = item % bands;
      blocks::meet(team_);  // the band before is done
      const std::uint8_t* image = take_.image(i) + band * rows * side;
      for (int at = rank_; at < rows0 * side; at += lanes) x_(at) = pixel<float>(image[at]);
      stage(std::int64_t{i} * pooled + band * band_windows);
      blocks::meet(team_);
      list_and_convolve();
      blocks::meet(team_);
      for (int of = rank_; of < items; of += lanes) {
        blocks::unrolled<outputs>([&](int n) { add_channel(of / packs * outputs + n, of % packs, sums[n]); });
        if (items > lanes) Lanes::leave(on_.partials, out, of, left, sums);
      }
      left = true;
      for (int of = rank_ / beside; of < runs; of += apart) add_run(of, sums1);
    }
    for (int of = rank_; of < items && (items == lanes || !left); of += lanes)
      Lanes::leave(on_.partials, out, of, false, sums);
    static_assert(Lanes::room_values <= rows1 * side1 * channels1);  // there is room in a1
    Lanes::leave_first(team_, Scratch<float>(&a1_(0).values[0], std::size_t{Lanes::room_values}), sums1, on_.partials,
                       out);
    Lanes::leave_biases(team_, biases_, on_.partials, out);
  }

 private:
  /// The gradients of a band's windows, of which the first is `from`, and where they go; some neighbouring windows are
  /// loaded together.
  KOKKOS_FORCEINLINE_FUNCTION void stage(std::int64_t from) const {
    constexpr int together = of_pooled.width, parts = band_windows / together;
    static_assert(band_windows % together == 0 && windows % together == 0);
    for (int item = rank_; item < channels2 * parts; item += lanes) {
      const int o = item / parts, begin = item % parts * together, to = o * pitch + begin;
      const std::int64_t at = (from + o * windows + begin) / together;
      float gradients[together];
      std::uint8_t loaded[together];
      load(on_.d_p(at), gradients);
      load(on_.decisions(at), loaded);
      LEAGUE_VECTORISED
      for (int n = 0; n < together; ++n) gradients_(to + n) = gradients[n];
      LEAGUE_VECTORISED
      for (int n = 0; n < together; ++n) {
        const int place = Decision::place(loaded[n]);
        places_(to + n) = static_cast<std::int16_t>(corners_(begin + n) + 4 * (place / 2 * side1 + place % 2) + place);
      }
    }
  }
  /// The position in a1, and that in the window, of an entry.
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION int position(int entry) const { return places_(entry) >> 2; }
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION int place(int entry) const { return places_(entry) & 3; }

  /// Lanes take a list of windows, a list of channels, or half a row of the first convolution's output, in this order:
  /// whole subgroups take either.
  KOKKOS_FORCEINLINE_FUNCTION void list_and_convolve() const {
    for (int task = rank_; task < lists + 2 * rows1 * packs; task += lanes) {
      if (task < channels2)
        list_windows(task);
      else if (task < channels2 + runs)
        list_channels(task - channels2);
      else if (task >= lists)
        Lanes::convolve(on_.first, x_, (task - lists) / packs, (task - lists) % packs, a1_);
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION void list_windows(int o) const {
    constexpr int together = 12;
    int count = 0;
    float sum = 0;
    for (int begin = 0; begin < band_windows; begin += together) {
      float gradients[together];
      blocks::unrolled<together>([&](int n) { gradients[n] = gradients_(o * pitch + begin + n); });
      blocks::unrolled<together>([&](int n) {
        windows_(o * pitch_windows + count) = static_cast<std::uint8_t>(begin + n);
        count += gradients[n] != 0 ? 1 : 0;
        sum += gradients[n];
      });
    }
    for (int n = 0; n < 2; ++n) windows_(o * pitch_windows + count + n) = band_windows;
    biases_(o) += sum;
  }
  /// The first window of a run.
  KOKKOS_FORCEINLINE_FUNCTION static int corner(int of) {
    constexpr int runs_across = pooled_side / across;
    return of / runs_across * (down * pooled_side) + of % runs_across * across;
  }
  /// Entries of a run of windows, each with its channel.
  KOKKOS_FORCEINLINE_FUNCTION void list_channels(int of) const {
    constexpr int together = 16;
    int count = of * pitch_run;
    for (int o = 0; o < channels2; o += together)
      for (int w = 0; w < run; ++w) {
        const int window = corner(of) + w / across * pooled_side + w % across;
        float gradients[together];
        blocks::unrolled<together>([&](int n) { gradients[n] = gradients_((o + n) * pitch + window); });
        blocks::unrolled<together>([&](int n) {
          channels_(count) = (o + n) << 16 | ((o + n) * pitch + window);
          count += gradients[n] != 0 ? 1 : 0;
        });
      }
    for (int n = 0; n < 2; ++n) channels_(count + n) = channels2 << 16 | (channels2 * pitch + corner(of));
  }
  /// Adds the windows of channel o to its weights, two at a time.
  KOKKOS_FORCEINLINE_FUNCTION void add_channel(int o, int pack, float (&sums)[taps][width]) const {
    float mine[taps][width];
    copy(sums, mine);
    int at = o * pitch_windows;
    for (int window = windows_(at); window < band_windows; window = windows_(at += 2)) {
      const int both[2] = {o * pitch + window, o * pitch + windows_(at + 1)};
      blocks::unrolled<2>([&](int n) {
        const float gradient = gradients_(both[n]);
        const int from = position(both[n]) * packs + pack;
        for (int t = 0; t < taps; ++t) {
          float a1[width];
          load(a1_(from + (t / 3 * side1 + t % 3) * packs), a1);
          LEAGUE_VECTORISED
          for (int k = 0; k < width; ++k) mine[t][k] += gradient * a1[k];
        }
      });
    }
    copy(mine, sums);
  }
  /// Adds a run of windows to the first convolution's weights, of all packs of a lane.
  KOKKOS_FORCEINLINE_FUNCTION void add_run(int of, Lanes::Sums& sums) const {
    constexpr int last = channels2 << 16;
    int at = of * pitch_run;
    if (channels_(at) >= last) return;
    const int begin = corner(of);
    Patch patch = {};
    for (; channels_(at) < last; at += depth) add_entries(at, begin, patch);
    for (int n = 0; n < wide; ++n)
      correlate(begin / pooled_side * 2, begin % pooled_side * 2, rank_ % beside + n * beside, patch[n], sums[n]);
  }
  /// Adds `depth` entries of a run, whose first window is `begin`, to the patch of a1's gradient; their weights are
  /// loaded together.
  KOKKOS_FORCEINLINE_FUNCTION void add_entries(int at, int begin, Patch& patch) const {
    float gradients[depth];
    int from[depth], to[depth], chosen[depth];
    blocks::unrolled<depth>([&](int e) {
      const int entry = channels_(at + e) & 0xffff, o = channels_(at + e) >> 16, window = entry - o * pitch - begin;
      gradients[e] = gradients_(entry);
      chosen[e] = place(entry);
      from[e] = o % channels2 * taps * packs + rank_ % beside;
      to[e] = 2 * (window / pooled_side % down) * patch_columns + 2 * (window % pooled_side % across);
    });
    for (int n = 0; n < wide; ++n) {
      float weights[depth][taps][width];
      blocks::unrolled<depth>([&](int e) {
        for (int t = 0; t < taps; ++t) load(on_.backward2(from[e] + n * beside + t * packs), weights[e][t]);
      });
      blocks::unrolled<depth * 4>([&](int p) {
        const int e = p / 4, of = p % 4;
        if (chosen[e] == of)
          for (int t = 0; t < taps; ++t) {
            LEAGUE_VECTORISED
            for (int k = 0; k < width; ++k)
              patch[n][to[e] + (of / 2 + t / 3) * patch_columns + of % 2 + t % 3][k] += gradients[e] * weights[e][t][k];
          }
      });
    }
  }
  /// Adds the correlation of a patch at (y, x), where a1 is above 0, with the pixels.
  KOKKOS_FORCEINLINE_FUNCTION void correlate(int y, int x, int pack, const float (&patch)[patch_size][width],
                                             float (&sums)[own][width]) const {
    float mine[own][width];
    copy(sums, mine);
    for (int py = 0; py < patch_size / patch_columns; ++py)
      for (int px = 0; px < patch_columns; ++px) {
        float a1[width], d[width];
        load(a1_(((y + py) * side1 + x + px) * packs + pack), a1);
        LEAGUE_VECTORISED
        for (int k = 0; k < width; ++k) d[k] = a1[k] > 0 ? patch[py * patch_columns + px][k] : 0;
        LEAGUE_VECTORISED
        for (int k = 0; k < width; ++k) mine[taps][k] += d[k];
        for (int t = 0; t < taps; ++t) {
          const float pixel = x_((y + py + t / 3) * side + x + px + t % 3);
          LEAGUE_VECTORISED
          for (int k = 0; k < width; ++k) mine[t][k] += d[k] * pixel;
        }
      }
    copy(mine, sums);
  }

  const Member& team_;
  const RoutedGradient& on_;
  Take take_;
  int rank_;
  Scratch<Pack> a1_;               ///< [position][packs of channels]
  Scratch<float> x_;               ///< pixels
  Scratch<float> gradients_;       ///< of entries, [channel][window]
  Scratch<std::int16_t> places_;   ///< four times the position in a1, plus that in the window
  Scratch<std::int16_t> corners_;  ///< of the windows, likewise
  Scratch<float> biases_;          ///< sums of the gradients of each channel
  Scratch<int> channels_;          ///< lists of runs: channels << 16 and entries; with two more at their ends
  Scratch<std::uint8_t> windows_;  ///< lists of channels: windows; likewise
};

LEAGUE_FLAT KOKKOS_FUNCTION inline void RoutedGradient::operator()(const Member& team) const {
  Team(team, *this).run_bands();
}

}  // namespace league::cnn::kokkos_model
