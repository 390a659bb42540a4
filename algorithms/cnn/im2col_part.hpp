// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>

#include "algorithms/cnn/im2col.hpp"

/// The convolutions of `gemm`, in every model: patches, products, sums of patches.
namespace league::cnn::layers {

template <class R>
class Im2col {
 public:
  using Runner = R;
  static constexpr const char* form = "";

  Im2col(const Runner& runner, int images)
      : runner_(runner), images_(images), chunk_(std::min(images, static_cast<int>(budget_bytes / image_bytes))) {}
  [[nodiscard]] int chunk() const { return chunk_; }
  template <class Part>
  void declare(Part& part) {
    part.declare(columns_, "cnn/columns", std::int64_t{chunk_} * Shape2::rows * Shape2::positions);
    part.declare(products_, "cnn/filters", std::int64_t{runner_.slices(chunk_)} * AddFilters<Shape2>::all);
  }
  void choose(const Memory& /*m*/) {}
  void first(const Memory& m) const {
    forward<Shape1>(m, m.x, m.s.weights + conv1_weights, m.a1);
    runner_.images(images_, BiasReLU{m});
  }
  void second(const Memory& m) const { forward<Shape2>(m, m.a1, m.s.weights + conv2_weights, m.z2); }
  void second_back(const Memory& m) const {
    for_chunks(m, [&](const Chunk& chunk) {
      const std::int64_t columns = std::int64_t{chunk.images} * Shape2::positions;
      const float* d = m.z2 + m.layout.template at<channels2, Shape2::positions>(chunk.first, 0);
      if (chunk_ < images_) runner_.images(chunk.images, Patches<Shape2>{m.layout, m.a1, chunk});  // else still valid
      filters<Shape2>(m, chunk, d, conv2_weights, conv2_biases);
      runner_.product(Shape2::depth, columns, channels2, {m.s.weights + conv2_weights, true}, {d}, chunk.columns);
      runner_.images(chunk.images, GatherPatches{m, chunk});
    });
  }
  void first_back(const Memory& m) const {
    for_chunks(m, [&](const Chunk& chunk) {
      runner_.images(chunk.images, Patches<Shape1>{m.layout, m.x, chunk});
      filters<Shape1>(m, chunk, m.d_a1 + m.layout.template at<channels1, Shape1::positions>(chunk.first, 0),
                      conv1_weights, conv1_biases);
    });
  }

 private:
  static constexpr std::int64_t image_bytes = std::int64_t{sizeof(float)} * Shape2::rows * Shape2::positions,
                                budget_bytes = std::int64_t{256} << 20;  ///< of the patches
  static_assert(Shape1::rows * Shape1::positions <= Shape2::rows * Shape2::positions &&
                AddFilters<Shape1>::all <= AddFilters<Shape2>::all);

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
