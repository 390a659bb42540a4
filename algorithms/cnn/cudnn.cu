// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <deque>

#include "algorithms/cnn/cuda_runner.hpp"
#include "algorithms/cnn/layers_pool.hpp"
#include "algorithms/cnn/layers_shard.hpp"
#include "backends/cudnn/convolution.hpp"

// `layers`: the convolutions of cuDNN, planes in NCHW. Its max-pool returns no indices, and its backward pass is not
// deterministic: those layers are ours. The gradients of the biases are products with ones, by cuBLAS:
// cudnnConvolutionBackwardBias is slower than a convolution.
namespace league::cnn {
namespace {

using cudnn::Convolution;

struct SetOnes {
  float* values;
  __device__ void operator()(int at) const { values[at] = 1; }
};

/// A convolution whose decisions are results is followed by our kernel; others have bias and ReLU in their epilogue.
template <class N, bool tf32>
class Layers {
 public:
  using Net = N;
  using Runner = cuda_model::Runner<tf32>;
  using Memory = layers::MemoryOf<N>;
  static constexpr const char* form = tf32 ? Cnn::tf32_all : "";

  Layers(const Runner& runner, int images) : runner_(runner), images_(images) {
    layers::forwards<N>([&]<int n>() {
      using L = Layer<N, n>;
      constexpr auto epilogue = L::of.decides ? Convolution::Epilogue::none : Convolution::Epilogue::bias_relu;
      const Convolution::Shape shape{images, L::inputs, L::outputs, L::side, 3};
      convolutions_.emplace_back(runner.runtime(), runner.queue(), shape, epilogue, math);
      channels_ = std::max(channels_, L::outputs);
    });
  }
  static int chunk() { return 1; }
  template <class MethodShard>
  void declare(MethodShard& shard) {
    constexpr std::int64_t mib = std::int64_t{1} << 20;
    shard.declare(workspace_, "cnn/cudnn", std::clamp(images_ * mib, 64 * mib, 1024 * mib));
    shard.declare(ones_, "cnn/ones", ones());
    shard.declare(plane_sums_, "cnn/plane_sums", std::int64_t{images_} * channels_);
  }
  void choose(const Memory& m) {
    layers::forwards<N>([&]<int n>() { convolutions_[n].choose(buffers<n>(m, layers::output_of<n>(m))); });
    runner_.elements(ones(), SetOnes{ones_.data()});
  }
  void forward(const Memory& m) const {
    layers::forwards<N>([&]<int n>() {
      convolve<n>(m);
      if constexpr (Layer<N, n>::of.decides) runner_.images(images_, typename layers::Around<N, n>::Forward{m});
    });
  }
  void backward(const Memory& m) const {
    layers::backwards<N>([&]<int n>() {
      runner_.images(images_, typename layers::Around<N, n>::Backward{m});
      differentiate<n>(m);
    });
  }
  void warm_up(const Memory& m) const {
    layers::forwards<N>([&]<int n>() { convolve<n>(m); });
    layers::backwards<N>([&]<int n>() { differentiate<n>(m); });
  }

 private:
  static constexpr Convolution::Math math = tf32 ? Convolution::Math::tf32 : Convolution::Math::f32;
  template <class T>
  using Array = typename Runner::template Array<T>;

  template <int n>
  void convolve(const Memory& m) const {
    convolutions_[n].forward(buffers<n>(m, layers::output_of<n>(m)));
  }
  template <int n>
  void differentiate(const Memory& m) const {
    using L = Layer<N, n>;
    const Convolution::Buffers on = buffers<n>(m, layers::gradient_of<n>(m));
    convolutions_[n].backward_weights(on);
    if constexpr (!L::first) convolutions_[n].backward_input(on);
    backward_biases(L::outputs, L::to_plane, on.output, m.s.gradient + L::biases);
  }
  [[nodiscard]] int ones() const { return std::max(images_, Layer<N, 0>::to_plane); }
  /// Sums each plane of [images x channels], then over the images.
  void backward_biases(int channels, int plane, const float* planes, float* d_biases) const {
    runner_.product(std::int64_t{images_} * channels, 1, plane, {planes}, {ones_.data()}, plane_sums_.data());
    runner_.product(1, channels, images_, {ones_.data()}, {plane_sums_.data()}, d_biases);
  }
  /// `output`: its values or, in the backward pass, their gradient.
  template <int n>
  [[nodiscard]] Convolution::Buffers buffers(const Memory& m, float* output) const {
    using L = Layer<N, n>;
    return {.input = layers::inputs_of<n>(m),
            .weights = m.s.weights + L::weights,
            .biases = m.s.weights + L::biases,
            .output = output,
            .d_input = L::first ? nullptr : m.d_a[std::max(n - 1, 0)],
            .d_weights = m.s.gradient + L::weights,
            .workspace = workspace_.data(),
            .workspace_bytes = workspace_.bytes()};
  }
  const Runner& runner_;
  int images_, channels_ = 0;
  std::deque<Convolution> convolutions_;
  Array<std::uint8_t> workspace_;
  Array<float> ones_, plane_sums_;
};

template <bool tf32>
using Training = RegisterTraining<layers::LayersShard<Layers<Mnist, tf32>>, layers::LayersShard<Layers<Cifar10, tf32>>>;

constexpr Model model{"cudnn", "cudnn", DeviceKind::gpu};
const Training<false> f32{"layers", model};
const Training<true> tf32{"layers_tf32", model};

}  // namespace
}  // namespace league::cnn
