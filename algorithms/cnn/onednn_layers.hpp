// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <unordered_map>
#include <utility>
#include <vector>

#include "algorithms/cnn/state.hpp"
#include "backends/onednn/onednn.hpp"

namespace league::cnn {

/// The calls for one number of images. Convolutions, pools and dense products choose their own layouts; reorders
/// convert from ours and back.
template <class N>
class Layers {
 public:
  using State = StateOf<N>;
  /// What decides in a layer, of all images in NCHW; null where there is none.
  struct Decided {
    const float* values;         ///< after the pool, above 0 where the ReLU lets them through
    const std::uint8_t* places;  ///< of the maxima in their windows
  };
  /// @pre a `onednn::Threads` object exists
  Layers(const dnnl::engine& engine, int images);
  [[nodiscard]] int images() const { return images_; }
  /// Floats of all tensors that are not in the shard's own memory.
  [[nodiscard]] std::int64_t size() const { return size_; }
  /// Sets the memory of all tensors.
  void bind(const State& state, float* arena);

  /// Pixels, NCHW.
  [[nodiscard]] float* x() const { return static_cast<float*>(x_.get_data_handle()); }
  [[nodiscard]] Decided decided(int n) const {
    const auto& [values, places] = decided_[static_cast<std::size_t>(n)];
    return {values ? static_cast<const float*>(values.get_data_handle()) : nullptr,
            places ? static_cast<const std::uint8_t*>(places.get_data_handle()) : nullptr};
  }

  /// From the pixels to the values of the last layer's windows, before ReLU, in `p`.
  void convolve() const { run(convolve_); }
  /// From `p` to `h`, without the bias.
  void multiply() const { run(multiply_); }
  /// From `d_h` to the first dense layer's gradient and `d_p`.
  void multiply_back() const { run(multiply_back_); }
  /// From `d_p`, before ReLU, to the convolutions' gradients.
  void convolve_back() const { run(convolve_back_); }

 private:
  using Dims = dnnl::memory::dims;
  struct Call {
    dnnl::primitive primitive;
    std::unordered_map<int, dnnl::memory> arguments;
  };
  using Calls = std::vector<Call>;
  /// Part of the shard's own memory.
  using Place = float* (*)(const State&);

  /// A convolution's calls, and the tensors that its backward pass needs.
  struct Layer {
    dnnl::convolution_forward::primitive_desc forward;
    dnnl::pooling_forward::primitive_desc pool;
    dnnl::memory input, weights, z;  ///< in the layouts of the call; z: after the convolution
    dnnl::memory places, output;     ///< workspace of the pool; after the ReLU, null in the last layer
  };
  static constexpr int count = N::network.count;

  void run(const Calls& calls) const;
  void make_convolutions();
  void make_dense();
  /// Appends the calls of layer `n`. @returns its output, what the next layer takes
  template <int n>
  dnnl::memory make_forward(const dnnl::memory& input);
  /// The same, from the gradient of the output of layer `n`. @returns the gradient of its input, null in the first
  /// layer
  template <int n>
  dnnl::memory make_backward(const dnnl::memory& gradient);
  /// Parameters of layer `n`, or their gradient.
  template <int n>
  [[nodiscard]] dnnl::memory weights_of(bool gradient);
  template <int n>
  [[nodiscard]] dnnl::memory biases_of(bool gradient);
  [[nodiscard]] dnnl::memory in_arena(const dnnl::memory::desc& desc);
  [[nodiscard]] dnnl::memory in_state(const Dims& dims, dnnl::memory::format_tag tag, Place place);
  /// `from` in the layout `wanted`; appends a reorder to `calls` if the layouts differ.
  [[nodiscard]] dnnl::memory as(const dnnl::memory::desc& wanted, const dnnl::memory& from, Calls& calls);
  /// The output memory of a call whose result goes to `to`; `finish` appends the reorder.
  [[nodiscard]] dnnl::memory before(const dnnl::memory::desc& made, const dnnl::memory& to);
  void finish(const dnnl::memory& made, const dnnl::memory& to, Calls& calls) const;

  dnnl::engine engine_;
  mutable dnnl::stream stream_;
  int images_;
  std::int64_t size_ = 0;
  std::vector<std::pair<dnnl::memory, std::int64_t>> arena_;
  std::vector<std::pair<dnnl::memory, Place>> state_;
  dnnl::memory x_, p_, d_p_;
  std::array<Layer, count> layers_;
  std::array<std::pair<dnnl::memory, dnnl::memory>, count> decided_;
  Calls convolve_, multiply_, multiply_back_, convolve_back_;
};

}  // namespace league::cnn
