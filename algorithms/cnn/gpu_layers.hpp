// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/group.hpp"
#include "algorithms/blocks/unrolled.hpp"
#include "algorithms/cnn/state.hpp"

/// Convolutions of any shape on GPUs: a team's work, the same in CUDA and Kokkos. The planes of a band of an image lie
/// in scratch, a thread has a tile of sums of one output channel, so that a warp reads its weights as one line and
/// broadcasts the inputs. The backward pass to the inputs is the same product with reversed kernels, over gradients
/// zero-padded by two.
namespace league::cnn {

/// Device memory of a network in layers.
template <class N>
struct LayersMemory {
  static constexpr int count = N::network.count;
  float *forward[count], *backward[count];  ///< weights as [in][tap][out], and reversed as [out][tap][in]
  float *a[count - 1], *d_a[count - 1];     ///< [images][values]: outputs but the last, and their gradients
  float* partials[count];                   ///< [sets][parameters of the convolution]
  float* products;                          ///< [slices][images x hidden]
  blocks::StepSize<float>* size;
  int slices;       ///< of the first dense layer's inputs
  int sets[count];  ///< of partial sums
};

/// How a team computes a band of a plane: threads as `across` x `down` tiles of rows x columns positions, each with one
/// output channel.
struct Tiling {
  int rows, columns, across, down, bands;
};
/// Of the network cifar10.
template <class N>
struct Tilings;
template <>
struct Tilings<Cifar10> {
  static constexpr Tiling forward[] = {{6, 6, 5, 1, 5}, {4, 4, 3, 1, 3}, {2, 4, 1, 1, 2}};
  static constexpr Tiling backward[] = {{}, {1, 14, 1, 7, 2}, {2, 6, 1, 3, 1}};
};

/// Adds the products of 3x3 taps over `channels` planes to a tile of sums. `weights`: [channel][tap][outputs].
template <int channels, int plane, int pitch, int outputs, int rows, int columns>
LEAGUE_FUNCTION void correlate(const float* planes, const float* weights, float (&sums)[rows][columns]) {
  static_assert(plane % 2 == 0 && pitch % 2 == 0 && columns % 2 == 0);
  for (int c = 0; c < channels; ++c) {
    float kernel[taps];
    blocks::unrolled<taps>([&](int t) { kernel[t] = weights[(c * taps + t) * outputs]; });
    blocks::unrolled<rows + 2>([&](int r) {
      float values[columns + 2];
      blocks::unrolled<columns / 2 + 1>([&](int x) {
        const Pair pair = *reinterpret_cast<const Pair*>(planes + c * plane + r * pitch + 2 * x);
        values[2 * x] = pair.values[0], values[2 * x + 1] = pair.values[1];
      });
      blocks::unrolled<taps * columns>([&](int at) {
        const int t = at / columns, x = at % columns, y = r - t / 3;
        if (y >= 0 && y < rows) sums[y][x] += kernel[t] * values[x + t % 3];
      });
    });
  }
}

/// Convolution `n`, ReLU and pool; a team takes a band of an image.
template <class N, int n>
struct LayerForward {
  using L = Layer<N, n>;
  static constexpr Tiling tiling = Tilings<N>::forward[n];
  static constexpr int tile_rows = tiling.rows, columns = tiling.columns, across = tiling.across, bands = tiling.bands;
  static constexpr int outputs = L::outputs, threads = across * tiling.down * outputs, min_teams = 2;
  static constexpr int band = tile_rows * tiling.down, rows = band + 2;  ///< of the output, of the inputs
  static constexpr int pitch = (L::side + 3) / 4 * 4, plane = rows * pitch;
  static constexpr int band_windows = band / L::step * L::window_side, staged = band_windows + 1;
  static constexpr int inputs_size = L::inputs * plane, outputs_size = outputs * staged;
  static constexpr int values_size = inputs_size > outputs_size ? inputs_size : outputs_size;
  static constexpr int scratch_bytes = static_cast<int>(sizeof(float)) * values_size + outputs * staged;
  static_assert(across * columns == L::live_side && bands * band == L::live_side);
  static_assert(tile_rows % L::step == 0 && columns % L::step == 0 && scratch_bytes <= 40'000);

  LEAGUE_FUNCTION static int items(int images) { return bands * images; }
  template <class Barrier>
  LEAGUE_FUNCTION static void run(const blocks::Group<Barrier>& group, const StateOf<N>& s,
                                  const LayersMemory<N>& memory, const TakeOf<N>& take, int item, float* scratch) {
    const int i = item / bands, number = item % bands, o = group.rank % outputs;
    const int tile = group.rank / outputs, tx = tile % across, ty = tile / across;
    if (i >= take.count) return;
    group.barrier();  // the item before
    stage(memory, take, i, number * band, group.rank, scratch);
    float sums[tile_rows][columns];
    for (int y = 0; y < tile_rows; ++y)
      for (int x = 0; x < columns; ++x) sums[y][x] = s.weights[L::biases + o];
    group.barrier();
    correlate<L::inputs, plane, pitch, outputs>(scratch + ty * tile_rows * pitch + tx * columns, memory.forward[n] + o,
                                                sums);
    group.barrier();
    auto* decisions = reinterpret_cast<std::uint8_t*>(scratch + values_size);
    constexpr int wide = columns / L::step;
    blocks::unrolled<tile_rows / L::step * wide>([&](int window) {
      const int wy = window / wide, wx = window % wide;
      int best = 0;
      float value = sums[wy * L::step][wx * L::step];
      for (int place = 1; place < L::step * L::step; ++place) {
        const float other = sums[wy * L::step + place / 2][wx * L::step + place % 2];
        if (other > value) value = other, best = place;
      }
      const int at = o * staged + (ty * tile_rows / L::step + wy) * L::window_side + tx * wide + wx;
      scratch[at] = value > 0 ? value : 0;
      decisions[at] = Decision::of(best, value > 0);
    });
    group.barrier();
    float* to = output(s, memory) + std::int64_t{i} * L::values;
    std::uint8_t* to_decisions = s.pool_decisions + std::int64_t{i} * N::decisions + L::decisions;
    for (int at = group.rank; at < outputs * band_windows; at += threads) {
      const int from = at / band_windows * staged + at % band_windows;
      const int k = at / band_windows * L::windows + number * band_windows + at % band_windows;
      to[k] = scratch[from];
      if (take.trains) to_decisions[k] = decisions[from];
    }
  }

 private:
  LEAGUE_FUNCTION static float* output(const StateOf<N>& s, const LayersMemory<N>& memory) {
    if constexpr (L::last)
      return s.p;
    else
      return memory.a[n];
  }
  /// Stages the rows of a band of all input planes.
  LEAGUE_FUNCTION static void stage(const LayersMemory<N>& memory, const TakeOf<N>& take, int i, int top, int rank,
                                    float* planes) {
    constexpr int size = rows * L::side;
    for (int at = rank; at < L::inputs * size; at += threads) {
      const int c = at / size, from = at % size, k = c * L::plane + top * L::side + from;
      float value = 0;
      if constexpr (L::first)
        value = N::pixel(take.image(i)[k]);
      else
        value = memory.a[n - 1][std::int64_t{i} * (L::inputs * L::plane) + k];
      planes[c * plane + from / L::side * pitch + from % L::side] = value;
    }
  }
};

/// The gradient behind convolution `n`, masked by its ReLU: [images][values].
template <class N, int n>
LEAGUE_FUNCTION const float* gradient_of(const StateOf<N>& s, const LayersMemory<N>& memory) {
  if constexpr (Layer<N, n>::last)
    return s.d_p;
  else
    return memory.d_a[n];
}

/// From the gradient behind convolution `n` to that of its inputs, masked by the ReLU before; a team takes a band of an
/// image. Inputs that no window of the pool depends on keep a gradient of 0.
template <class N, int n>
struct LayerBackward {
  using L = Layer<N, n>;
  using Before = Layer<N, n - 1>;
  static constexpr Tiling tiling = Tilings<N>::backward[n];
  static constexpr int tile_rows = tiling.rows, columns = tiling.columns, across = tiling.across, bands = tiling.bands;
  static constexpr int outputs = L::inputs, threads = across * tiling.down * outputs, min_teams = 2;
  static constexpr int band = tile_rows * tiling.down, rows = band + 2;  ///< of the result, of the gradients
  static constexpr int side = L::live_side + 2, pitch = (side + 5) / 4 * 4, plane = rows * pitch;
  static constexpr int values = band * side, staged = values + 1;
  static constexpr int inputs_size = L::outputs * plane, outputs_size = outputs * staged;
  static constexpr int scratch_bytes =
      static_cast<int>(sizeof(float)) * (inputs_size > outputs_size ? inputs_size : outputs_size);
  static_assert(across * columns == side && bands * band == side);
  static_assert(scratch_bytes <= 40'000 && Before::window_side == L::side && Before::outputs == outputs);

  LEAGUE_FUNCTION static int items(int images) { return bands * images; }
  template <class Barrier>
  LEAGUE_FUNCTION static void run(const blocks::Group<Barrier>& group, const StateOf<N>& s,
                                  const LayersMemory<N>& memory, const TakeOf<N>& take, int item, float* scratch) {
    const int i = item / bands, top = item % bands * band, c = group.rank % outputs;
    const int tile = group.rank / outputs, tx = tile % across, ty = tile / across;
    if (i >= take.count) return;
    group.barrier();  // the item before
    for (int at = group.rank; at < inputs_size; at += threads) scratch[at] = 0;
    group.barrier();
    stage(s, memory, i, top, group.rank, scratch);
    float sums[tile_rows][columns] = {};
    group.barrier();
    correlate<L::outputs, plane, pitch, outputs>(scratch + ty * tile_rows * pitch + tx * columns,
                                                 memory.backward[n] + c, sums);
    group.barrier();
    blocks::unrolled<tile_rows * columns>([&](int at) {
      const int y = at / columns, x = at % columns;
      scratch[c * staged + (ty * tile_rows + y) * side + tx * columns + x] = sums[y][x];
    });
    group.barrier();
    float* to = memory.d_a[n - 1] + std::int64_t{i} * Before::values;
    const std::uint8_t* decisions = s.pool_decisions + std::int64_t{i} * N::decisions + Before::decisions;
    for (int at = group.rank; at < outputs * values; at += threads) {
      const int channel = at / values, from = at % values;
      const int k = channel * L::plane + (top + from / side) * L::side + from % side;
      to[k] = Decision::live(decisions[k]) ? scratch[channel * staged + from] : 0;
    }
  }

 private:
  /// Stages the gradients of the windows that the band needs at their maxima; row `top` of the padded planes first.
  LEAGUE_FUNCTION static void stage(const StateOf<N>& s, const LayersMemory<N>& memory, int i, int top, int rank,
                                    float* planes) {
    const float* d = gradient_of<N, n>(s, memory) + std::int64_t{i} * L::values;
    const std::uint8_t* decisions = s.pool_decisions + std::int64_t{i} * N::decisions + L::decisions;
    for (int at = rank; at < L::values; at += threads) {
      const int o = at / L::windows, window = at % L::windows, place = Decision::place(decisions[at]);
      const int y = window / L::window_side * L::step + place / 2 + 2 - top;
      const int x = window % L::window_side * L::step + place % 2 + 2;
      if (y >= 0 && y < rows) planes[o * plane + y * pitch + x] = d[at];
    }
  }
};

/// Packs the weights of all convolutions. `Method::store<n>` puts a weight of convolution `n` where its kernels read
/// it.
template <class Method>
struct PackLayers {
  using N = typename Method::Net;
  static constexpr int first = 0, end = N::fc1_weights;
  StateOf<N> s;
  LayersMemory<N> memory;
  LEAGUE_FUNCTION void operator()(int at) const { pack<0>(at); }

 private:
  template <int n>
  LEAGUE_FUNCTION void pack(int at) const {
    using L = Layer<N, n>;
    if constexpr (!L::last)
      if (at >= Layer<N, n + 1>::weights) return pack<n + 1>(at);
    if (at >= L::biases) return;
    const int k = at - L::weights;
    Method::template store<n>(memory, s.weights[at], k / taps / L::inputs, k / taps % L::inputs, k % taps);
  }
};

}  // namespace league::cnn
