// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>

#include "algorithms/cnn/im2col.hpp"
#include "algorithms/cnn/layers_pool.hpp"

/// The convolutions of `gemm`, in every model: patches, products, sums of patches.
namespace league::cnn::layers {

/// Convolutions of these shapes.
template <class R, class N, class... Shapes>
class Im2colCalls {
 public:
  using Net = N;
  using Runner = R;
  using Memory = MemoryOf<N>;
  static constexpr const char* form = "";

  Im2colCalls(const Runner& runner, int images)
      : runner_(runner), images_(images), chunk_(std::min(images, static_cast<int>(budget_bytes / image_bytes))) {}
  [[nodiscard]] int chunk() const { return chunk_; }
  template <class Part>
  void declare(Part& part) {
    part.declare(columns_, "cnn/columns", std::int64_t{chunk_} * max_patches);
    part.declare(products_, "cnn/filters", std::int64_t{runner_.slices(chunk_)} * max_filters);
  }
  void choose(const Memory& /*m*/) {}

 protected:
  template <class Body>
  void for_chunks(const Memory& m, const Body& body) const {
    for (int first = 0; first < images_; first += chunk_) body(Chunk{first, m.layout.size(first), columns_.data()});
  }
  template <class S>
  void forward(const Memory& m, const float* from, const float* weights, float* to) const {
    for_chunks(m, [&](const Chunk& chunk) {
      runner_.images(chunk.images, Patches<S>{m.layout, from, chunk});
      runner_.product(S::outputs, std::int64_t{chunk.images} * S::positions, S::depth, {weights}, {chunk.columns},
                      to + m.layout.template at<S::outputs, S::positions>(chunk.first, 0));
    });
  }
  /// From the gradient `d` of the output, that of the parameters; with `d_a` also that of the inputs `a`, behind a
  /// ReLU. `kept`: the patches of a single chunk are those of the last call of `forward`.
  template <class S>
  void backward(const Memory& m, const float* a, const float* d, int weights, int biases, float* d_a,
                bool kept = false) const {
    for_chunks(m, [&](const Chunk& chunk) {
      const float* of = d + m.layout.template at<S::outputs, S::positions>(chunk.first, 0);
      if (chunk_ < images_ || !kept) runner_.images(chunk.images, Patches<S>{m.layout, a, chunk});
      filters<S>(m, chunk, of, weights, biases);
      if (d_a == nullptr) return;
      runner_.product(S::depth, std::int64_t{chunk.images} * S::positions, S::outputs, {m.s.weights + weights, true},
                      {of}, chunk.columns);
      runner_.images(chunk.images, GatherPatches<S>{m.layout, a, d_a, chunk});
    });
  }

  const Runner& runner_;
  int images_, chunk_;

 private:
  static constexpr int max_patches = std::max({Shapes::rows * Shapes::positions...}),
                       max_filters = std::max({AddFilters<Shapes>::all...});
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

  typename Runner::template Array<float> columns_, products_;
};

/// Of the network mnist.
template <class R>
class Im2col : public Im2colCalls<R, Mnist, Shape1, Shape2> {
  using Base = Im2colCalls<R, Mnist, Shape1, Shape2>;
  using Base::runner_, Base::images_;

 public:
  using Base::Base;
  void forward(const Memory& m) const {
    first(m);
    second(m);
    runner_.images(images_, Pool{m});
  }
  void backward(const Memory& m) const {
    runner_.images(images_, Unpool{m});
    differentiate(m);
  }
  void warm_up(const Memory& m) const {
    first(m);
    second(m);
    differentiate(m);
  }

 private:
  void first(const Memory& m) const {
    Base::template forward<Shape1>(m, m.x, m.s.weights + conv1_weights, m.a[0]);
    runner_.images(images_, BiasReLU{m});
  }
  void second(const Memory& m) const { Base::template forward<Shape2>(m, m.a[0], m.s.weights + conv2_weights, m.z[1]); }
  void differentiate(const Memory& m) const {
    Base::template backward<Shape2>(m, m.a[0], m.z[1], conv2_weights, conv2_biases, m.d_a[0], true);
    Base::template backward<Shape1>(m, m.x, m.d_a[0], conv1_weights, conv1_biases, nullptr);
  }
};

/// Of a network whose convolutions all decide.
template <class R, class N>
class Im2colLayers : public Im2colCalls<R, N, ShapeOf<N, 0>, ShapeOf<N, 1>, ShapeOf<N, 2>> {
  using Base = Im2colCalls<R, N, ShapeOf<N, 0>, ShapeOf<N, 1>, ShapeOf<N, 2>>;
  using Base::runner_, Base::images_;
  static_assert(N::network.count == 3);

 public:
  using Base::Base;
  using typename Base::Memory;
  void forward(const Memory& m) const {
    forward_layer<0>(m);
    forward_layer<1>(m);
    forward_layer<2>(m);
  }
  void backward(const Memory& m) const {
    backward_layer<2>(m);
    backward_layer<1>(m);
    backward_layer<0>(m);
  }
  void warm_up(const Memory& m) const {
    product<0>(m);
    product<1>(m);
    product<2>(m);
    differentiate<2>(m);
    differentiate<1>(m);
    differentiate<0>(m);
  }

 private:
  template <int n>
  void forward_layer(const Memory& m) const {
    product<n>(m);
    runner_.images(images_, Activate<N, n>{m});
  }
  template <int n>
  void backward_layer(const Memory& m) const {
    runner_.images(images_, Route<N, n>{m});
    differentiate<n>(m);
  }
  template <int n>
  void product(const Memory& m) const {
    Base::template forward<ShapeOf<N, n>>(m, inputs_of<n>(m), m.s.weights + Layer<N, n>::weights, m.z[n]);
  }
  template <int n>
  void differentiate(const Memory& m) const {
    using L = Layer<N, n>;
    Base::template backward<ShapeOf<N, n>>(m, inputs_of<n>(m), m.z[n], L::weights, L::biases,
                                           n == 0 ? nullptr : m.d_a[std::max(n - 1, 0)]);
  }
};

}  // namespace league::cnn::layers
