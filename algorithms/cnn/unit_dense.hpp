// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/cnn/dense.hpp"
#include "algorithms/cnn/unit_product.hpp"

/// The first dense layer on a matrix unit: `Dense` and `DenseBackward` with other tiles.
namespace league::cnn {

/// 64 images x all neurons of a slice of the inputs.
template <class Unit, class N>
struct UnitDense {
  using Tile = UnitProduct<Unit, 64, N::hidden, true, true>;
  static constexpr int threads = Tile::threads, min_teams = 2, scratch_bytes = Tile::scratch_bytes;

  LEAGUE_FUNCTION static int items(int images, int slices) { return DenseOf<N>::items(images, slices); }
  static int slices(int images, int multiprocessors) { return DenseOf<N>::slices(images, multiprocessors); }
  template <class Barrier, class Memory>
  LEAGUE_FUNCTION static void run(const blocks::Group<Barrier>& group, const StateOf<N>& s, const Memory& memory,
                                  const TakeOf<N>& take, int item, float* scratch) {
    const int first = item / memory.slices * 64, number = item % memory.slices, slice = N::flat / memory.slices;
    const int k0 = number * slice, rows = take.count - first;
    if (rows <= 0) return;
    float* products = memory.products + (std::int64_t{number} * take.count + first) * N::hidden;
    Tile::multiply(
        group, slice, {s.p + std::int64_t{first} * N::flat + k0, N::flat, rows},
        {s.weights + N::fc1_weights + k0, N::flat, N::hidden},
        [=](int row, int column, const typename Tile::Run& sums) {
          if (row < rows) *reinterpret_cast<typename Tile::Run*>(products + row * N::hidden + column) = sums;
        },
        scratch);
  }
};

/// Gradients of the layer's inputs, 64 images x 128 inputs, and of its weights, all neurons x 64 inputs over all
/// images; on GPUs, the small sums too.
template <class Unit, class N>
struct UnitDenseBackward {
  using Weights = UnitProduct<Unit, N::hidden, 64, false, false>;
  using Inputs = UnitProduct<Unit, 64, 128, true, false>;
  static constexpr int threads = Weights::threads, min_teams = 2;
  static constexpr int scratch_bytes =
      Weights::scratch_bytes > Inputs::scratch_bytes ? Weights::scratch_bytes : Inputs::scratch_bytes;
  static constexpr int input_tiles = N::flat / 128, weight_tiles = N::flat / 64;
  using Small = SmallSumsOf<N, threads>;
  static_assert(threads == Inputs::threads && (threads == 1 || Small::scratch_bytes <= scratch_bytes));

  LEAGUE_FUNCTION static int tiles(int images) { return (images + 63) / 64 * input_tiles + weight_tiles; }
  LEAGUE_FUNCTION static int items(int images) { return tiles(images) + Small::items; }
  template <class Barrier, class Memory>
  LEAGUE_FUNCTION static void run(const blocks::Group<Barrier>& group, const StateOf<N>& s, const Memory& /*memory*/,
                                  const TakeOf<N>& take, int item, float* scratch) {
    const int of_inputs = tiles(take.count) - weight_tiles;
    if (item < of_inputs)
      inputs(group, s, take, item / input_tiles * 64, item % input_tiles * 128, scratch);
    else if (item < of_inputs + weight_tiles)
      weights(group, s, take, (item - of_inputs) * 64, scratch);
    else if constexpr (threads > 1)
      Small::run(group, s, take, (item - of_inputs - weight_tiles) * 32, scratch);
  }

 private:
  template <class Barrier>
  LEAGUE_FUNCTION static void weights(const blocks::Group<Barrier>& group, const StateOf<N>& s, const TakeOf<N>& take,
                                      int k0, float* scratch) {
    float* gradient = s.gradient + N::fc1_weights + k0;
    Weights::multiply(
        group, take.count, {s.d_h, N::hidden, take.count}, {s.p + k0, N::flat, take.count},
        [=](int row, int column, const typename Weights::Run& sums) {
          *reinterpret_cast<typename Weights::Run*>(gradient + row * N::flat + column) = sums;
        },
        scratch);
  }
  /// Back through dropout and ReLU after the pool: where the output was above 0.
  template <class Barrier>
  LEAGUE_FUNCTION static void inputs(const blocks::Group<Barrier>& group, const StateOf<N>& s, const TakeOf<N>& take,
                                     int first, int k0, float* scratch) {
    const auto scale = s.dropout_of(take).template pooled_scale<float>();
    const int rows = take.count - first;
    const std::int64_t from = std::int64_t{first} * N::flat + k0;
    const float* pool = s.p + from;
    float* d_pool = s.d_p + from;
    Inputs::multiply(
        group, N::hidden, {s.d_h + first * N::hidden, N::hidden, rows},
        {s.weights + N::fc1_weights + k0, N::flat, N::hidden},
        [=](int row, int column, const typename Inputs::Run& sums) {
          if (row >= rows) return;
          const int at = row * N::flat + column;
          const auto p = *reinterpret_cast<const typename Inputs::Run*>(pool + at);
          typename Inputs::Run d;
          for (int n = 0; n < Inputs::run; ++n) d.values[n] = p.values[n] > 0 ? scale * sums.values[n] : 0;
          *reinterpret_cast<typename Inputs::Run*>(d_pool + at) = d;
        },
        scratch);
  }
};

}  // namespace league::cnn
