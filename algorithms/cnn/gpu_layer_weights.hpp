// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/cnn/gpu_layers.hpp"

/// Gradients of the weights of convolutions of any shape on GPUs, and the sums over all teams.
namespace league::cnn {

/// How a team adds: `inputs` channels of `windows_rows` rows of windows of an image, `staged_rows` of these at a time;
/// the positions of staged rows are split into `splits` parts of a row, each with its own sums.
struct WeightsTiling {
  int inputs, window_rows, staged_rows, splits;
};
template <class N>
struct WeightsTilings;
template <>
struct WeightsTilings<Cifar10> {
  static constexpr WeightsTiling of[] = {{3, 3, 1, 6}, {16, 2, 1, 1}, {16, 4, 4, 1}};
};

/// Gradient of convolution `n`. A thread takes a row of taps of an input channel and 16 output channels: 48 sums, over
/// the images of its team; the three columns of a row of inputs stay in registers.
template <class N, int n>
struct LayerWeights {
  using L = Layer<N, n>;
  static constexpr WeightsTiling tiling = WeightsTilings<N>::of[n];
  static constexpr int inputs = tiling.inputs, window_rows = tiling.window_rows, staged_rows = tiling.staged_rows;
  static constexpr int row_parts = tiling.splits;
  static constexpr int outputs = L::outputs, own = 16, min_teams = 2;
  static constexpr int blocks_of_inputs = L::inputs / inputs, parts = L::window_side / window_rows;
  /// Threads that add: [split of rows][split of a row][group of outputs][channel][row of taps].
  static constexpr int lines = inputs * 3, groups = outputs / own, set = lines * groups;
  static constexpr int row_splits = row_parts > 1 ? L::step : 1, splits = row_splits * row_parts;
  static constexpr int adding = splits * set, threads = (adding + outputs - 1) / outputs * outputs;
  static constexpr int span = L::live_side / row_parts;  ///< columns of a split
  static constexpr int rows = staged_rows * L::step, top_rows = window_rows * L::step + 2;
  static constexpr int plane = top_rows * L::side | 1;  ///< odd, against bank conflicts
  static constexpr int d_size = rows * L::live_side * outputs, a_size = inputs * plane;
  static constexpr int sums_size = splits > 1 ? set * own * 3 : threads;
  static constexpr int scratch_bytes =
      static_cast<int>(sizeof(float)) * (d_size + a_size > sums_size ? d_size + a_size : sums_size);
  static constexpr int weights = outputs * L::inputs * taps, all = weights + outputs;
  static_assert(L::inputs % inputs == 0 && L::window_side % window_rows == 0);
  static_assert(window_rows % staged_rows == 0 && L::live_side % row_parts == 0);
  static_assert(threads % 32 == 0 && threads <= sums_size && d_size % 4 == 0 && scratch_bytes <= 40'000);

  /// The parameter of sum `at` of a set.
  LEAGUE_FUNCTION static int parameter(int at) { return L::weights + at; }
  /// Sets of sums that are worth while for so many images.
  static int max_sets(int images) { return parts * images; }
  template <class Barrier>
  LEAGUE_FUNCTION static void run(const blocks::Group<Barrier>& group, const StateOf<N>& s,
                                  const LayersMemory<N>& memory, const TakeOf<N>& take, int team, int teams,
                                  float* scratch) {
    float *d = scratch, *a = d + d_size;
    const int block = team % blocks_of_inputs, number = team / blocks_of_inputs, sets = teams / blocks_of_inputs;
    float sums[own][3] = {}, bias = 0;
    for (int item = number; item < parts * take.count; item += sets) {
      const int i = item / parts, first = item % parts * window_rows;
      for (int row = 0; row < window_rows; row += staged_rows) {
        group.barrier();
        if (row == 0) stage_inputs(memory, take, i, block, first, group.rank, a);
        bias += stage_gradients(s, memory, i, first + row, group.rank, d);
        group.barrier();
        if (group.rank < adding) add(a + row * L::step * L::side, d, group.rank, sums);
      }
    }
    float* out = memory.partials[n] + std::int64_t{number} * all;
    add_splits(group, block, sums, scratch, out);
    group.barrier();
    scratch[group.rank] = bias;
    group.barrier();
    if (block != 0 || group.rank >= outputs) return;
    float sum = 0;
    for (int at = group.rank; at < threads; at += outputs) sum += scratch[at];
    out[weights + group.rank] = sum;
  }

 private:
  LEAGUE_FUNCTION static void stage_inputs(const LayersMemory<N>& memory, const TakeOf<N>& take, int i, int block,
                                           int first, int rank, float* a) {
    constexpr int band = top_rows * L::side;
    for (int at = rank; at < inputs * band; at += threads) {
      const int c = at / band, from = at % band;
      const int k = (block * inputs + c) * L::plane + first * L::step * L::side + from;
      if constexpr (L::first)
        a[c * plane + from] = N::pixel(take.image(i)[k]);
      else
        a[c * plane + from] = memory.a[n - 1][std::int64_t{i} * (L::inputs * L::plane) + k];
    }
  }
  /// Stages some rows of windows as [position][output]. @returns the sum of a thread's windows, all of one output
  LEAGUE_FUNCTION static float stage_gradients(const StateOf<N>& s, const LayersMemory<N>& memory, int i, int first,
                                               int rank, float* d) {
    const int o = rank % outputs;
    const std::int64_t from = std::int64_t{i} * L::values + o * L::windows + first * L::window_side;
    const float* values = gradient_of<N, n>(s, memory) + from;
    const std::uint8_t* decisions =
        s.pool_decisions + std::int64_t{i} * N::decisions + L::decisions + o * L::windows + first * L::window_side;
    float all_of = 0;
    for (int at = rank / outputs; at < staged_rows * L::window_side; at += threads / outputs) {
      const float value = values[at];
      const int place = Decision::place(decisions[at]);
      const int y = at / L::window_side * L::step, x = at % L::window_side * L::step;
      for (int other = 0; other < L::step * L::step; ++other)
        d[((y + other / 2) * L::live_side + x + other % 2) * outputs + o] = other == place ? value : 0;
      all_of += value;
    }
    return all_of;
  }
  LEAGUE_FUNCTION static void add(const float* a, const float* d, int rank, float (&sums)[own][3]) {
    const int line = rank % lines, group = rank / lines % groups, split = rank / set;
    const int left = split % row_parts * span;
    for (int y = split / row_parts; y < rows; y += row_splits) {
      const float* row = a + line / 3 * plane + (y + line % 3) * L::side + left;
      const float* of = d + (y * L::live_side + left) * outputs + group * own;
      float columns[3] = {0, row[0], row[1]};
      for (int x = 0; x < span; ++x) {
        columns[0] = columns[1], columns[1] = columns[2], columns[2] = row[x + 2];
        blocks::unrolled<own / 4>([&](int q) {
          const Four four = *reinterpret_cast<const Four*>(of + x * outputs + 4 * q);
          blocks::unrolled<12>([&](int at) { sums[4 * q + at / 3][at % 3] += four.values[at / 3] * columns[at % 3]; });
        });
      }
    }
  }
  /// Adds the sums of all splits, in order, and stores them as [output][input][tap].
  template <class Barrier>
  LEAGUE_FUNCTION static void add_splits(const blocks::Group<Barrier>& group, int block, float (&sums)[own][3],
                                         float* scratch, float* out) {
    const int line = group.rank % lines, outputs_of = group.rank / lines % groups, split = group.rank / set;
    for (int turn = 0; turn < splits; ++turn) {
      if (splits > 1) group.barrier();
      if (split != turn || group.rank >= adding) continue;
      blocks::unrolled<own * 3>([&](int at) {
        float& sum = sums[at / 3][at % 3];
        float* staged = scratch + (at * set + group.rank % set);
        if (turn > 0) sum += *staged;
        if (turn + 1 < splits)
          *staged = sum;
        else
          out[((outputs_of * own + at / 3) * L::inputs + block * inputs) * taps + line * 3 + at % 3] = sum;
      });
    }
  }
};

/// Adds the sets of sums of all convolutions; 32 parameters per team. `Method`: its kernels have left them.
template <class Method>
struct AddSets {
  using N = typename Method::Net;
  static constexpr int threads = 256, min_teams = 2, parts = threads / 32, items = N::fc1_weights / 32;
  static constexpr int scratch_bytes = static_cast<int>(sizeof(float)) * threads;

  template <class Barrier>
  LEAGUE_FUNCTION static void run(const blocks::Group<Barrier>& group, const StateOf<N>& s,
                                  const LayersMemory<N>& memory, const TakeOf<N>& /*take*/, int item, float* scratch) {
    const int lane = group.rank % 32, part = group.rank / 32, at = item * 32 + lane;
    group.barrier();
    scratch[group.rank] = sum_of<0>(memory, part, at);
    group.barrier();
    if (part != 0) return;
    float sum = 0;
    for (int from = 0; from < parts; ++from) sum += scratch[from * 32 + lane];
    s.gradient[parameter<0>(at)] = sum;
    if (at == 0) *memory.size = s.step_size();  // for the update, which also counts the step
  }

 private:
  template <int n>
  LEAGUE_FUNCTION static int parameter(int at) {
    if constexpr (!Layer<N, n>::last)
      if (at >= Layer<N, n + 1>::weights) return parameter<n + 1>(at);
    return Method::template Weights<n>::parameter(at - Layer<N, n>::weights);
  }
  /// The sum of every `parts`-th set from `part` on, from convolution `n` or a later one.
  template <int n>
  LEAGUE_FUNCTION static float sum_of(const LayersMemory<N>& memory, int part, int at) {
    if constexpr (!Layer<N, n>::last)
      if (at >= Layer<N, n + 1>::weights) return sum_of<n + 1>(memory, part, at);
    return blocks::sum_in_order<12>((memory.sets[n] + parts - 1 - part) / parts, [&](int set) {
      return memory
          .partials[n][std::int64_t{set * parts + part} * Method::template Weights<n>::all + at - Layer<N, n>::weights];
    });
  }
};

}  // namespace league::cnn
