// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/gathered.hpp"
#include "algorithms/cnn/partials.hpp"

namespace league::cnn {

/// Gradient of the second convolution's weights on a matrix unit, over all positions: output channels x (input channels
/// and taps), summed over positions. Teams take bands of images, 8 rows of positions each; of two teams, each takes
/// half of the input channels. A subgroup takes 16 output channels and all taps: 9 units of sums.
///
/// The depth of a step: 8 neighbouring positions of a row; the elements of a word are `apart` rows apart. So a tap is
/// another row or column of whole words: three rows of a1 stay in registers, and a step loads one. Gradients are stored
/// as windows, rounded, with the place of the maximum in the lowest bits, and expanded in registers.
template <class Unit_>
struct UnitWeights {
  using Unit = Unit_;
  using Word = typename Unit::Word;
  using Value = typename Unit::Value;
  using Traits = blocks::mma::Traits<Unit::element>;
  static constexpr bool alone = Unit::lanes == 1;
  static constexpr int edge = blocks::mma::side, shares = channels1 / edge, jobs = channels2 / edge;
  static constexpr int bands = 3, rows = side2 / bands, rows1 = rows + 2, rows0 = rows + 4;
  static constexpr int band_windows = windows / bands, apart = rows / Unit::per_word, word_rows = apart + 2;
  static constexpr int subgroups = alone ? 1 : jobs, threads = subgroups * Unit::lanes, min_teams = 3;
  // Scratch: pixels; a1 [row][x][channel]; gradients [output][window].
  static constexpr int x_size = rows0 * side, pitch1 = edge + 8, a1_words = word_rows * side1 * pitch1;
  static constexpr int pitch = band_windows + 1;
  static constexpr int scratch_bytes = static_cast<int>(sizeof(float)) * (x_size + a1_words + channels2 * pitch);
  static_assert(scratch_bytes <= 40'000);

  LEAGUE_FUNCTION static int items(int images) { return bands * images; }
  /// Team `team` of `teams`, an even number; two leave their sums in one row of the partial sums.
  template <class Barrier>
  LEAGUE_FUNCTION static void run(const blocks::Group<Barrier>& group, const State& s, const GpuMemory& memory,
                                  const Take& take, int team, int teams, float* scratch) {
    const int share = team % shares, rank = group.rank, lane = rank % Unit::lanes;
    float* x = scratch;
    auto* a1 = reinterpret_cast<Word*>(x + x_size);
    auto* gradients = reinterpret_cast<std::uint32_t*>(a1 + a1_words);
    Sums sums[alone ? jobs : 1];
    float biases[alone ? channels2 : 1] = {};
    for (int item = team / shares; item < items(take.count); item += teams / shares) {
      const int i = item / bands, band = item % bands;
      group.barrier();
      const std::uint8_t* image = take.image(i) + band * rows * side;
      for (int at = rank; at < x_size; at += threads) x[at] = pixel<float>(image[at]);
      const std::int64_t first = std::int64_t{i} * pooled + band * band_windows;
      stage_gradients(s, first, rank, gradients);
      for (int o = rank; share == 0 && o < channels2; o += threads) biases[alone ? o : 0] += bias_of(s, first, o);
      group.barrier();
      convolve_first(s, share * edge, rank, x, a1);
      group.barrier();
      for (int job = rank / Unit::lanes; job < jobs; job += subgroups)
        multiply(gradients + job * edge * pitch, a1, lane, sums[alone ? job : 0]);
    }
    float* out = memory.partials + std::int64_t{team / shares} * fc1_weights;
    for (int job = rank / Unit::lanes; job < jobs; job += subgroups)
      store(out + Partials::weights2 + job * edge * taps * channels1 + share * edge, lane, sums[alone ? job : 0]);
    for (int o = rank; share == 0 && o < channels2; o += threads) out[Partials::biases2 + o] = biases[alone ? o : 0];
  }

 private:
  static_assert(alone || threads >= channels2);
  struct Sums {
    typename Unit::fragment_c of[taps];
  };

  /// Stages four neighbouring windows of a channel at a time; all loads are in flight together.
  LEAGUE_FUNCTION static void stage_gradients(const State& s, std::int64_t first, int rank, std::uint32_t* to) {
    constexpr int fours = band_windows / 4, own = channels2 * fours / threads;
    static_assert(channels2 * fours % threads == 0);
    Four values[own];
    std::uint32_t decisions[own];
    blocks::each<Unit, own>([&](int n) {
      const int at = rank + n * threads;
      const std::int64_t from = first + at / fours * windows + at % fours * 4;
      values[n] = *reinterpret_cast<const Four*>(s.d_p + from);
      decisions[n] = *reinterpret_cast<const std::uint32_t*>(s.pool_decisions + from);
    });
    blocks::each<Unit, own>([&](int n) {
      const int at = rank + n * threads, window = at / fours * pitch + at % fours * 4;
      for (int k = 0; k < 4; ++k) {
        const float rounded = Traits::widen(Traits::narrow(values[n].values[k]));
        to[window + k] = blocks::mma::bits_of(rounded) | (decisions[n] >> 8 * k & Decision::place_bits);
      }
    });
  }
  LEAGUE_FUNCTION static float bias_of(const State& s, std::int64_t first, int o) {
    float sum = 0;
    blocks::unrolled<band_windows / 4>([&](int n) {
      const Four values = *reinterpret_cast<const Four*>(s.d_p + first + o * windows + 4 * n);
      for (const float value : values.values) sum += value;
    });
    return sum;
  }
  /// A thread takes half a row of a channel at a time.
  LEAGUE_FUNCTION static void convolve_first(const State& s, int first, int rank, const float* x, Word* a1) {
    constexpr int half = side1 / 2;
    for (int task = rank; task < rows1 * 2 * edge; task += threads) {
      const int c = task % edge, left = task / edge % 2 * half, row = task / edge / 2;
      float kernel[taps];
      for (int t = 0; t < taps; ++t) kernel[t] = s.weights[conv1_weights + (first + c) * taps + t];
      convolve_row<half>(kernel, s.weights[conv1_biases + first + c], x + row * side + left, [&](int n, float value) {
        const Value narrow = Traits::narrow(value);
        for (int e = 0; e < Unit::per_word; ++e) {
          const int y = row - e * apart;
          if (y >= 0 && y < word_rows) reinterpret_cast<Value*>(a1 + (y * side1 + left + n) * pitch1 + c)[e] = narrow;
        }
      });
    }
  }
  LEAGUE_FUNCTION static void multiply(const std::uint32_t* gradients, const Word* a1, int lane, Sums& sums) {
    using blocks::mma::Operand;
    for (int first = 0; first < side2; first += blocks::mma::words) {
      blocks::Gathered<Unit, Operand::b> inputs[3][3];  // [kx][row % 3]
      const auto load = [&](int kx, int y) {
        inputs[kx][y % 3].gather([&](int i) {
          const blocks::mma::Place place = Unit::template word_of<Operand::b>(lane, i);
          return a1[(first + place.word) * pitch1 + place.row + (y * side1 + kx) * pitch1];
        });
      };
      blocks::unrolled<6>([&](int n) { load(n % 3, n / 3); });
      blocks::unrolled<apart>([&](int y) {
        blocks::unrolled<3>([&](int kx) { load(kx, y + 2); });
        blocks::Gathered<Unit, Operand::a> outputs;
        outputs.gather([&](int i) {
          const blocks::mma::Place place = Unit::word_of(lane, i);
          const int column = first + place.word;
          float values[Unit::per_word];
          for (int e = 0; e < Unit::per_word; ++e) {
            const int row = y + e * apart;
            const std::uint32_t word = gradients[place.row * pitch + row / 2 * pooled_side + column / 2];
            const bool here = (word & Decision::place_bits) == static_cast<std::uint32_t>(row % 2 * 2 + column % 2);
            values[e] = here ? blocks::mma::float_of(word) : 0.0F;
          }
          return Unit::word(values);
        });
        blocks::unrolled<taps>(
            [&](int t) { Unit::mma_sync(sums.of[t], outputs.fragment, inputs[t % 3][(y + t / 3) % 3].fragment); });
      });
    }
  }
  LEAGUE_FUNCTION static void store(float* out, int lane, const Sums& sums) {
    blocks::unrolled<taps>([&](int t) {
      typename Unit::Sum values[Unit::sums];
      Unit::values(sums.of[t], values);
      blocks::each<Unit, Unit::sums>(
          [&](int i) { out[(Unit::row(lane, i) * taps + t) * channels1 + Unit::column(lane, i)] = values[i]; });
    });
  }
};

}  // namespace league::cnn
