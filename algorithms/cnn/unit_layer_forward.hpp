// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/cnn/unit_layer.hpp"

/// Convolutions of any shape forward on a matrix unit.
namespace league::cnn {

/// A team takes a band of each of `images` images; a subgroup `down` blocks of windows and 16 `across` outputs.
struct UnitTiling {
  int images, bands, down, across;
};
/// Of the network cifar10.
template <class N>
struct UnitTilings;
template <>
struct UnitTilings<Cifar10> {
  static constexpr UnitTiling forward[] = {{1, 3, 2, 2}, {1, 1, 2, 2}, {4, 1, 2, 2}};
};

/// Convolution `n`, ReLU and pool. Outputs but the last are stored as the next convolution reads them: rounded,
/// [images][window][channel].
///
/// A block is 8 windows of 2 x 2 positions or, without a pool, 16 positions. In the former, the rows of a pair
/// (`RowPairs`) are left and right neighbours, and the second unit has the positions below: a lane has all positions of
/// its windows.
template <class N, int n, class Unit_>
struct UnitLayerForward {
  using L = Layer<N, n>;
  using Unit = Unit_;
  using Word = typename Unit::Word;
  using Value = typename Unit::Value;
  using Filters = UnitFilters<Unit, L::first, L::outputs>;
  static constexpr bool alone = Unit::lanes == 1;
  static constexpr UnitTiling tiling = UnitTilings<N>::forward[n];
  static constexpr int images = tiling.images, bands = tiling.bands, down = tiling.down, across = tiling.across;
  static constexpr int band_windows = L::windows / bands, band = L::window_side / bands * L::step, rows = band + 2;
  static constexpr int side = blocks::mma::side, high = L::step, block = side / high;  ///< windows of a block
  static constexpr int all_windows = images * band_windows, all_blocks = (all_windows + block - 1) / block;
  static constexpr int row_jobs = (all_blocks + down - 1) / down, jobs = row_jobs * L::outputs / (side * across);
  static constexpr int subgroups = alone ? 1 : jobs, threads = subgroups * Unit::lanes, min_teams = 2;
  // Scratch: the planes. Neighbouring rows of a fragment begin four banks apart.
  static constexpr int channels = L::first ? 4 : L::inputs, depth = L::first ? 16 : L::inputs;
  static constexpr int groups = depth / Unit::depth;
  static constexpr int pitch = channels / Unit::per_word + (L::first ? 0 : L::pools ? 2 : 4);
  static constexpr int skew = L::first || !L::pools ? 0 : ((2 * L::window_side - L::side * pitch) % 16 + 16) % 16;
  static constexpr UnitPlanes planes{L::side * pitch + skew, pitch};
  static constexpr int image_words = rows * planes.row + (L::first ? pitch : 0);
  static constexpr int scratch_bytes = static_cast<int>(sizeof(Word)) * images * image_words;
  static_assert(L::window_side % bands == 0 && scratch_bytes <= 40'000 && pitch % 2 == 0 && skew % 2 == 0);

  LEAGUE_FUNCTION static int items(int of_images) { return (of_images + images - 1) / images * bands; }
  template <class Barrier>
  LEAGUE_FUNCTION static void run(const blocks::Group<Barrier>& group, const StateOf<N>& s,
                                  const LayersMemory<N>& memory, const TakeOf<N>& take, int item, float* scratch) {
    const int first = item / bands * images, number = item % bands, lane = group.rank % Unit::lanes;
    if (first >= take.count) return;
    auto* words = reinterpret_cast<Word*>(scratch);
    group.barrier();  // the item before
    for (int of = 0; of < images; ++of)
      if constexpr (L::first)
        stage_pixels(take, first + of, number * band, group.rank, words + of * image_words);
      else
        stage(memory, first + of < take.count ? first + of : first, number * band, group.rank,
              words + of * image_words);
    group.barrier();
    for (int job = group.rank / Unit::lanes; job < jobs; job += subgroups) {
      const int begin = job % row_jobs * down, o = job / row_jobs * across * side;
      int at[down][Unit::lane_rows];
      for (int of = 0; of < down; ++of)
        each_lane_row<Unit>(lane, [&](int r, int row) { at[of][r] = offset_of(begin + of, row); });
      typename Unit::fragment_c sums[down * high][across];
      correlate_units<Unit, Filters, planes, groups, down, high, across>(
          reinterpret_cast<const Word*>(memory.forward[n]) + o / side * blocks::mma::piece_words, words, at, lane,
          sums);
      blocks::unrolled<down * across>([&](int of) {
        store(s, memory, take, first, number, begin + of / across, o + of % across * side, lane,
              [&](int y) -> const auto& { return sums[of / across * high + y][of % across]; });
      });
    }
  }

 private:
  using Pairs = blocks::RowPairs<Unit>;

  /// The window of a row of the first unit of a block. Without a pool, rows 4 to 7 and 8 to 11 are swapped: the first
  /// eight rows, which a warp reads together, are then in different banks.
  LEAGUE_FUNCTION static constexpr int window_of(int of_block, int row) {
    return of_block * block + (L::pools ? Pairs::pair(row) : row / 4 % 2 * 8 + row / 8 * 4 + row % 4);
  }
  LEAGUE_FUNCTION static int offset_of(int of_block, int row) {
    const int any = window_of(of_block, row), window = any < all_windows ? any : all_windows - 1;
    const int in_band = window % band_windows, right = L::pools && Pairs::lower(row) ? 1 : 0;
    return window / band_windows * image_words + in_band / L::window_side * L::step * planes.row +
           (in_band % L::window_side * L::step + right) * pitch;
  }
  /// Stages the rows of a band as pixels of four values. A step reads up to a pixel beyond a row.
  LEAGUE_FUNCTION static void stage_pixels(const TakeOf<N>& take, int i, int top, int rank, Word* words) {
    const std::uint8_t* image = take.image(i < take.count ? i : take.count - 1) + top * L::side;
    for (int at = rank; at <= rows * L::side; at += threads) {
      FourValues<Unit> pixel{};
      for (int c = 0; c < L::inputs && at < rows * L::side; ++c)
        pixel.values[c] = blocks::mma::Traits<Unit::element>::narrow(N::pixel(image[c * L::plane + at]));
      *reinterpret_cast<FourValues<Unit>*>(words + at * pitch) = pixel;
    }
  }
  LEAGUE_FUNCTION static void stage(const LayersMemory<N>& memory, int i, int top, int rank, Word* words) {
    using Words = blocks::Pack<Word>;
    using Half = blocks::Pack<Word, 8>;
    constexpr int packs = L::inputs / Unit::per_word / 4, row_packs = L::side * packs;
    const auto* from =
        reinterpret_cast<const Words*>(memory.a[n - 1]) + (std::int64_t{i} * L::plane + top * L::side) * packs;
    for (int at = rank; at < rows * row_packs; at += threads) {
      const Words pack = from[at];
      auto* to = reinterpret_cast<Half*>(words + at / row_packs * planes.row + at % row_packs / packs * pitch +
                                         at % packs * 4);
      to[0] = {pack.values[0], pack.values[1]}, to[1] = {pack.values[2], pack.values[3]};
    }
  }
  /// Bias, pool and ReLU of a block and 16 outputs from `o` on; `unit(y)`: the sums of a row of its windows.
  template <class Sums>
  LEAGUE_FUNCTION static void store(const StateOf<N>& s, const LayersMemory<N>& memory, const TakeOf<N>& take,
                                    int first, int number, int of_block, int o, int lane, const Sums& unit) {
    typename Unit::Sum found[high][Unit::sums];
    blocks::unrolled<high>([&](int y) { Unit::values(unit(y), found[y]); });
    float biases[Unit::sums];  // before the first store
    blocks::each<Unit, Unit::sums>([&](int e) { biases[e] = s.weights[L::biases + o + Unit::column(lane, e)]; });
    blocks::each<Unit, Unit::sums>([&](int e) {
      if (L::pools && Pairs::lower(Unit::row(0, e))) return;
      const int k = o + Unit::column(lane, e), window = window_of(of_block, Unit::row(lane, e));
      const int i = first + window / band_windows;
      if (window >= all_windows || i >= take.count) return;
      int best = 0;
      float value = found[0][e];
      for (int place = 1; place < L::step * L::step; ++place) {
        const float other = found[place / 2 % high][e + place % 2 * Pairs::step];
        if (other > value) value = other, best = place;
      }
      value += biases[e];
      const int at = number * band_windows + window % band_windows;
      const float positive = value > 0 ? value : 0;
      if constexpr (L::last)
        s.p[std::int64_t{i} * L::values + k * L::windows + at] = positive;
      else
        reinterpret_cast<Value*>(memory.a[n])[std::int64_t{i} * L::values + at * L::outputs + k] =
            blocks::mma::Traits<Unit::element>::narrow(positive);
      if (take.trains)
        s.pool_decisions[std::int64_t{i} * N::decisions + L::decisions + k * L::windows + at] =
            Decision::of(best, value > 0);
    });
  }
};

}  // namespace league::cnn
