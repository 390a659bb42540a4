// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <climits>

#include "algorithms/cnn/forward.hpp"
#include "algorithms/cnn/product.hpp"

/// The dense layers and the loss on GPUs.
namespace league::cnn {

/// The first dense layer, one slice of its inputs (split-K): 64 images x 128 neurons.
template <class N>
struct DenseOf {
  using Tile = ProductTile<64, N::hidden, true, true>;
  static constexpr int threads = Tile::threads, min_teams = 2, scratch_bytes = Tile::scratch_bytes;

  LEAGUE_FUNCTION static int items(int images, int slices) { return (images + 63) / 64 * slices; }
  /// The number of slices that minimises the work of the busiest multiprocessor; of equal ones the largest, up to two
  /// teams per multiprocessor.
  static int slices(int images, int multiprocessors) {
    int best = 1, min_work = INT_MAX;
    for (int slices = 1; slices <= N::flat / Tile::step; ++slices) {
      const int teams = items(images, slices), rounds = (teams + multiprocessors - 1) / multiprocessors;
      if (N::flat / Tile::step % slices != 0 || (slices > 1 && rounds > min_teams)) continue;
      if (rounds * (N::flat / slices) <= min_work) best = slices, min_work = rounds * (N::flat / slices);
    }
    return best;
  }
  template <class Barrier, class Memory>
  LEAGUE_FUNCTION static void run(const blocks::Group<Barrier>& group, const StateOf<N>& s, const Memory& memory,
                                  const TakeOf<N>& take, int item, float* scratch) {
    const int first = item / memory.slices * 64, number = item % memory.slices, slice = N::flat / memory.slices;
    const int k0 = number * slice;
    if (first >= take.count) return;
    Tile::run(
        group, slice,
        [&](int row, int k) {
          return first + row < take.count
                     ? *reinterpret_cast<const Four*>(s.p + std::int64_t{first + row} * N::flat + k0 + k)
                     : Four{};
        },
        [&](int column, int k) {
          return *reinterpret_cast<const Four*>(s.weights + N::fc1_weights + column * N::flat + k0 + k);
        },
        [&](int row, int column, const Four& sum) {
          if (first + row < take.count)
            memory.products[(std::int64_t{number} * take.count + first + row) * N::hidden + column] = sum.values[0];
        },
        scratch);
  }
};

/// An image's last layers, its loss and their gradients; two threads per neuron, 16 per class.
template <class N>
struct LossOf {
  static constexpr int parts = 2, threads = parts * N::hidden, min_teams = 4, lanes = threads / 16;
  static constexpr int scratch_bytes = static_cast<int>(sizeof(float)) * (threads + N::hidden + threads + 2 * classes);
  static_assert(threads / lanes >= classes);

  template <class Barrier, class Memory>
  LEAGUE_FUNCTION static void run(const blocks::Group<Barrier>& group, const StateOf<N>& s, const Memory& memory,
                                  const TakeOf<N>& take, int i, float* scratch) {
    if (i >= take.count) return;
    float *z = scratch, *h = z + threads, *sums = h + N::hidden, *logits = sums + threads, *d = logits + classes;
    const int j = group.rank % N::hidden, part = group.rank / N::hidden, c = group.rank / lanes,
              lane = group.rank % lanes;
    group.barrier();  // the previous item is done
    z[group.rank] = blocks::sum_in_order<12>((memory.slices + parts - 1 - part) / parts, [&](int n) {
      return memory.products[(std::int64_t{n * parts + part} * take.count + i) * N::hidden + j];
    });
    const float bias = s.weights[N::fc1_biases + j];
    const Dropout dropout = s.dropout_of(take);
    const std::uint64_t word = dropout.word(take.step, take.position(i), Dropout::pooled_words + j / 64);
    float weights[N::hidden / lanes];  // of a class, loaded before the barrier
    for (int n = 0; n < N::hidden / lanes; ++n)
      weights[n] = c < classes ? s.weights[N::fc2_weights + c * N::hidden + lane + n * lanes] : 0;
    group.barrier();
    float value = bias;
    for (int n = 0; n < parts; ++n) value += z[n * N::hidden + j];
    const float factor = value > 0 && Dropout::keeps_hidden(word, j) ? dropout.hidden_scale<float>() : 0;
    if (part == 0) h[j] = factor * value;
    group.barrier();
    float products = 0;
    for (int n = 0; n < N::hidden / lanes; ++n) products += weights[n] * h[lane + n * lanes];
    sums[group.rank] = products;
    group.barrier();
    if (group.rank < classes) {
      float sum = s.weights[N::fc2_biases + group.rank];
      for (int n = 0; n < lanes; ++n) sum += sums[group.rank * lanes + (n + group.rank) % lanes];
      logits[group.rank] = sum;
    }
    group.barrier();
    Head head;
    for (int n = 0; n < classes; ++n) head.logits[n] = logits[n];
    if (!take.trains) {
      if (group.rank == 0) s.predictions[take.first - s.test_first + i] = head.best();
      return;
    }
    const int label = take.labels[take.number(i)];
    if (group.rank < classes) {
      d[group.rank] = head.gradient(group.rank, label, take.share);
      s.d_logits[i * classes + group.rank] = d[group.rank];
    } else if (group.rank == threads - 1) {
      s.losses[i] = head.loss(label);
    }
    group.barrier();
    if (part != 0) return;
    float sum = 0;
    for (int n = 0; n < classes; ++n) sum += d[n] * s.weights[N::fc2_weights + n * N::hidden + j];
    s.h[i * N::hidden + j] = h[j];
    s.d_h[i * N::hidden + j] = factor * sum;
    s.hidden_decisions[i * N::hidden + j] = value > 0 ? 1 : 0;
  }
};

/// The last layer's gradient, the gradient of the first dense layer's biases, and the loss: sums over images. A team of
/// `threads` takes 32.
template <class N, int threads>
struct SmallSumsOf {
  static constexpr int sums = N::parameters + 1 - N::fc1_biases, parts = threads / 32, items = (sums + 31) / 32;
  static constexpr int scratch_bytes = static_cast<int>(sizeof(float)) * threads;

  template <class Barrier>
  LEAGUE_FUNCTION static void run(const blocks::Group<Barrier>& group, const StateOf<N>& s, const TakeOf<N>& take,
                                  int first, float* scratch) {
    const int lane = group.rank % 32, part = group.rank / 32, at = first + lane, i = N::fc1_biases + at;
    if (first >= sums) return;
    group.barrier();
    scratch[group.rank] = blocks::sum_in_order<12>((take.count + parts - 1 - part) / parts, [&](int n) {
      const int image = n * parts + part;
      if (i < N::fc2_weights) return s.d_h[image * N::hidden + at];
      if (i < N::fc2_biases)
        return s.d_logits[image * classes + (i - N::fc2_weights) / N::hidden] *
               s.h[image * N::hidden + (i - N::fc2_weights) % N::hidden];
      return i < N::parameters    ? s.d_logits[image * classes + i - N::fc2_biases]
             : i == N::parameters ? s.losses[image]
                                  : 0;
    });
    group.barrier();
    if (part != 0 || i > N::parameters) return;
    float sum = 0;
    for (int n = 0; n < parts; ++n) sum += scratch[n * 32 + lane];
    s.gradient[i] = i == N::parameters ? sum * take.share : sum;
  }
};

/// The dense layers, backward. The first teams take the gradient of the first layer's inputs (64 images x 128 inputs),
/// the next that of its weights (128 neurons x 64 inputs, over all images), the last the small sums over images.
template <class N>
struct DenseBackwardOf {
  using Weights = ProductTile<N::hidden, 64, false, false>;
  using Inputs = ProductTile<64, 128, true, false>;
  static constexpr int threads = Weights::threads, min_teams = 2, scratch_bytes = Inputs::scratch_bytes;
  static constexpr int input_tiles = N::flat / 128, weight_tiles = N::flat / 64;
  using Small = SmallSumsOf<N, threads>;
  static_assert(Weights::scratch_bytes <= scratch_bytes);

  LEAGUE_FUNCTION static int items(int images) {
    return (images + 63) / 64 * input_tiles + weight_tiles + Small::items;
  }
  template <class Barrier, class Memory>
  LEAGUE_FUNCTION static void run(const blocks::Group<Barrier>& group, const StateOf<N>& s, const Memory& /*memory*/,
                                  const TakeOf<N>& take, int item, float* scratch) {
    const int tiles = (take.count + 63) / 64 * input_tiles;
    if (item < tiles)
      inputs(group, s, take, item / input_tiles * 64, item % input_tiles * 128, scratch);
    else if (item < tiles + weight_tiles)
      weights(group, s, take, (item - tiles) * 64, scratch);
    else
      Small::run(group, s, take, (item - tiles - weight_tiles) * 32, scratch);
  }

 private:
  template <class Barrier>
  LEAGUE_FUNCTION static void weights(const blocks::Group<Barrier>& group, const StateOf<N>& s, const TakeOf<N>& take,
                                      int k0, float* scratch) {
    Weights::run(
        group, take.count,
        [&](int row, int i) {
          return i < take.count ? *reinterpret_cast<const Four*>(s.d_h + i * N::hidden + row) : Four{};
        },
        [&](int column, int i) {
          return i < take.count ? *reinterpret_cast<const Four*>(s.p + std::int64_t{i} * N::flat + k0 + column)
                                : Four{};
        },
        [&](int row, int column, const Four& sums) {
          *reinterpret_cast<Four*>(s.gradient + N::fc1_weights + row * N::flat + k0 + column) = sums;
        },
        scratch);
  }
  /// Back through dropout and ReLU after the pool: where the output was above 0.
  template <class Barrier>
  LEAGUE_FUNCTION static void inputs(const blocks::Group<Barrier>& group, const StateOf<N>& s, const TakeOf<N>& take,
                                     int first, int k0, float* scratch) {
    const auto scale = s.dropout_of(take).template pooled_scale<float>();
    Inputs::run(
        group, N::hidden,
        [&](int row, int j) {
          return first + row < take.count ? *reinterpret_cast<const Four*>(s.d_h + (first + row) * N::hidden + j)
                                          : Four{};
        },
        [&](int column, int j) {
          return *reinterpret_cast<const Four*>(s.weights + N::fc1_weights + j * N::flat + k0 + column);
        },
        [&](int row, int column, const Four& sums) {
          if (first + row >= take.count) return;
          const std::int64_t at = std::int64_t{first + row} * N::flat + k0 + column;
          const Four p = *reinterpret_cast<const Four*>(s.p + at);
          Four d;
          for (int n = 0; n < 4; ++n) d.values[n] = p.values[n] > 0 ? scale * sums.values[n] : 0;
          *reinterpret_cast<Four*>(s.d_p + at) = d;
        },
        scratch);
  }
};

using Dense = DenseOf<Mnist>;
using Loss = LossOf<Mnist>;
template <int threads>
using SmallSums = SmallSumsOf<Mnist, threads>;
using DenseBackward = DenseBackwardOf<Mnist>;

/// Counts the correctly classified test images.
struct CountRight {
  static constexpr int threads = 256, min_teams = 1, scratch_bytes = static_cast<int>(sizeof(float)) * threads;

  template <class Barrier, class State, class Memory, class Take>
  LEAGUE_FUNCTION static void run(const blocks::Group<Barrier>& group, const State& s, const Memory& /*memory*/,
                                  const Take& /*take*/, int /*item*/, float* scratch) {
    int right = 0;
    for (std::int64_t i = group.rank; i < s.test_count; i += threads)
      right += s.predictions[i] == s.test_labels[s.test_first + i] ? 1 : 0;
    int* counts = reinterpret_cast<int*>(scratch);
    counts[group.rank] = right;
    blocks::combine_in_scratch(group, counts, [](int a, int b) { return a + b; });
    if (group.rank == 0) *s.correct_here = counts[0];
  }
};

}  // namespace league::cnn
