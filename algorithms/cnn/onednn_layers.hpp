// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <unordered_map>
#include <vector>

#include "algorithms/cnn/state.hpp"
#include "backends/onednn/onednn.hpp"

namespace league::cnn {

/// The calls for one number of images. Convolutions, pool and dense products choose their own layouts; reorders convert
/// from ours and back.
class Layers {
 public:
  /// @pre a `onednn::Threads` object exists
  Layers(const dnnl::engine& engine, int images);
  [[nodiscard]] int images() const { return images_; }
  /// Floats of all tensors that are not in the shard's own memory.
  [[nodiscard]] std::int64_t size() const { return size_; }
  /// Sets the memory of all tensors.
  void bind(const State& state, float* arena);

  /// Pixels, [images x 28 x 28].
  [[nodiscard]] float* x() const { return static_cast<float*>(x_.get_data_handle()); }
  /// Positions of the maxima, u8 [images x pooled].
  [[nodiscard]] const std::uint8_t* places() const {
    return static_cast<const std::uint8_t*>(places_.get_data_handle());
  }

  /// From the pixels to the maxima of the windows, before ReLU, in `p`.
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

  void run(const Calls& calls) const;
  void make_convolutions();
  void make_dense();
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
  dnnl::memory x_, places_, p_, d_p_;
  Calls convolve_, multiply_, multiply_back_, convolve_back_;
};

}  // namespace league::cnn
