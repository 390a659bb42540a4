// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>

#include "algorithms/cnn/im2col.hpp"
#include "algorithms/cnn/layers_pool.hpp"

/// The convolutions of `gemm`, in every model: patches, products, sums of patches.
namespace league::cnn::layers {

/// The largest number that `of` finds among the shapes of a network's convolutions.
template <class N, class Of>
constexpr int largest(const Of& of) {
  int found = 0;
  forwards<N>([&]<int n>() { found = std::max(found, of(ShapeOf<N, n>())); });
  return found;
}

template <class R, class N>
class Im2col {
 public:
  using Net = N;
  using Runner = R;
  using Memory = PlanesOf<N>;
  static constexpr const char* form = "";

  Im2col(const Runner& runner, int images)
      : runner_(runner), images_(images), chunk_(std::min(images, static_cast<int>(budget_bytes / image_bytes))) {}
  [[nodiscard]] int chunk() const { return chunk_; }
  template <class MethodShard>
  void declare(MethodShard& shard) {
    shard.declare(columns_, "cnn/columns", std::int64_t{chunk_} * max_patches);
    shard.declare(products_, "cnn/filters", std::int64_t{runner_.slices(chunk_)} * max_filters);
  }
  void choose(const Memory& /*m*/) {}
  void forward(const Memory& m) const {
    forwards<N>([&]<int n>() {
      convolve<n>(m);
      runner_.images(images_, typename Around<N, n>::Forward{m});
    });
  }
  void backward(const Memory& m) const {
    backwards<N>([&]<int n>() {
      if constexpr (Layer<N, n>::of.decides) runner_.images(images_, typename Around<N, n>::Backward{m});
      differentiate<n>(m);
    });
  }
  void warm_up(const Memory& m) const {
    forwards<N>([&]<int n>() { convolve<n>(m); });
    backwards<N>([&]<int n>() { differentiate<n>(m); });
  }

 private:
  template <class Body>
  void for_chunks(const Memory& m, const Body& body) const {
    for (int first = 0; first < images_; first += chunk_) body(Chunk{first, m.layout.size(first), columns_.data()});
  }
  template <int n>
  void convolve(const Memory& m) const {
    using S = ShapeOf<N, n>;
    for_chunks(m, [&](const Chunk& chunk) {
      runner_.images(chunk.images, Patches<S>{m.layout, inputs_of<n>(m), chunk});
      runner_.product(S::outputs, std::int64_t{chunk.images} * S::positions, S::depth,
                      {m.s.weights + Layer<N, n>::weights}, {chunk.columns},
                      output_of<n>(m) + m.layout.template at<S::outputs, S::positions>(chunk.first, 0));
    });
  }
  /// The gradients of the parameters, and of the inputs behind their ReLU. The last forward call of a single chunk has
  /// left the last layer's patches.
  template <int n>
  void differentiate(const Memory& m) const {
    using L = Layer<N, n>;
    using S = ShapeOf<N, n>;
    for_chunks(m, [&](const Chunk& chunk) {
      const float* d = gradient_of<n>(m) + m.layout.template at<S::outputs, S::positions>(chunk.first, 0);
      if (chunk_ < images_ || !L::last) runner_.images(chunk.images, Patches<S>{m.layout, inputs_of<n>(m), chunk});
      filters<S>(m, chunk, d, L::weights, L::biases);
      if constexpr (!L::first) {
        runner_.product(S::depth, std::int64_t{chunk.images} * S::positions, S::outputs,
                        {m.s.weights + L::weights, true}, {d}, chunk.columns);
        runner_.images(chunk.images, GatherPatches<S>{m.layout, inputs_of<n>(m), m.d_a[n - 1], chunk});
      }
    });
  }

  static constexpr int max_patches = largest<N>([](auto shape) { return shape.rows * shape.positions; }),
                       max_filters = largest<N>([](auto shape) { return shape.outputs * shape.rows; });
  static constexpr std::int64_t image_bytes = std::int64_t{sizeof(float)} * max_patches,
                                budget_bytes = std::int64_t{256} << 20;  ///< of the patches

  /// The gradient of weights and biases from `d` [outputs][images][positions]: one slice of the depth (split-K) per
  /// image.
  template <class S>
  void filters(const Memory& m, const Chunk& chunk, const float* d, int weights, int biases) const {
    const int slices = runner_.slices(chunk.images);
    runner_.product(S::outputs, S::rows, std::int64_t{chunk.images} * S::positions, {d}, {chunk.columns, true},
                    products_.data(), slices);
    runner_.elements(AddFilters<S>::all, AddFilters<S>{products_.data(), slices, chunk.first == 0,
                                                       m.s.gradient + weights, m.s.gradient + biases});
  }

  const Runner& runner_;
  int images_, chunk_;
  typename Runner::template Array<float> columns_, products_;
};

}  // namespace league::cnn::layers
