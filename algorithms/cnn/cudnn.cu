// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <deque>
#include <type_traits>

#include "algorithms/cnn/cuda_bf16_runner.hpp"
#include "algorithms/cnn/layers_pool.hpp"
#include "algorithms/cnn/layers_shard.hpp"
#include "backends/cudnn/convolution.hpp"

// `layers`: the convolutions of cuDNN, planes in NCHW. Its max-pool returns no indices, and its backward pass is not
// deterministic: those layers are ours. The gradients of the biases are products with ones, by cuBLAS:
// cudnnConvolutionBackwardBias is slower than a convolution. `layers_bf16`: planes are stored in bf16, weights
// converted in each step, and their gradients converted back; the dense layers' factors are converted before each
// product.
namespace league::cnn {
namespace {

using cudnn::Convolution;
using Math = Convolution::Math;
using layers::Bf16;

template <class T>
struct SetOnes {
  T* values;
  __device__ void operator()(int at) const { values[at] = 1.0F; }
};

/// A convolution whose decisions are results is followed by our kernel, and so is each in bf16, whose biases are f32;
/// others have bias and ReLU in their epilogue.
template <class N, Math math>
class Layers {
  static constexpr bool bf16 = math == Math::bf16;

 public:
  using Net = N;
  using Runner = std::conditional_t<bf16, cuda_model::Bf16Runner, cuda_model::Runner<math == Math::tf32>>;
  using Plane = typename Runner::Plane;
  using Memory = layers::PlanesOf<N, Plane>;
  /// In f32 the fastest algorithm may be tiles of a Fourier transform.
  static constexpr const char* form = bf16 ? Cnn::bf16_all : math == Math::tf32 ? Cnn::tf32_all : Cnn::f32_transformed;

  Layers(const Runner& runner, int images) : runner_(runner), images_(images) {
    layers::forwards<N>([&]<int n>() {
      using L = Layer<N, n>;
      constexpr auto epilogue = ends_here<n>() ? Convolution::Epilogue::bias_relu : Convolution::Epilogue::none;
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
    shard.declare(weights_, "cnn/weights_bf16", bf16 ? weights : 0);
    shard.declare(d_weights_, "cnn/d_weights_bf16", bf16 ? weights : 0);
    shard.declare(plane_ones_, "cnn/plane_ones", largest_plane);
    shard.declare(image_ones_, "cnn/image_ones", images_);
    shard.declare(plane_sums_, "cnn/plane_sums", std::int64_t{images_} * channels_);
  }
  void choose(const Memory& m) {
    narrow_weights(m);
    layers::forwards<N>([&]<int n>() { convolutions_[n].choose(buffers<n>(m, layers::output_of<n>(m))); });
    runner_.elements(largest_plane, SetOnes<Plane>{plane_ones_.data()});
    runner_.elements(images_, SetOnes<float>{image_ones_.data()});
  }
  void forward(const Memory& m) const {
    narrow_weights(m);
    layers::forwards<N>([&]<int n>() {
      convolve<n>(m);
      if constexpr (!ends_here<n>()) runner_.images(images_, typename layers::Around<N, n, Plane>::Forward{m});
    });
  }
  void backward(const Memory& m) const {
    layers::backwards<N>([&]<int n>() {
      runner_.images(images_, typename layers::Around<N, n, Plane>::Backward{m});
      differentiate<n>(m);
    });
  }
  void warm_up(const Memory& m) const {
    layers::forwards<N>([&]<int n>() { convolve<n>(m); });
    layers::backwards<N>([&]<int n>() { differentiate<n>(m); });
  }

 private:
  template <class T>
  using Array = typename Runner::template Array<T>;
  static constexpr int weights = N::fc1_weights,  ///< and biases, of all convolutions
      largest_plane = Layer<N, 0>::to_plane;
  template <int n>
  static constexpr bool ends_here() {
    return !bf16 && !Layer<N, n>::of.decides;
  }

  void narrow_weights(const Memory& m) const {
    if constexpr (bf16) runner_.elements(weights, cuda_model::Narrow{m.s.weights, weights_.data()});
  }

  template <int n>
  void convolve(const Memory& m) const {
    convolutions_[n].forward(buffers<n>(m, layers::output_of<n>(m)));
  }
  template <int n>
  void differentiate(const Memory& m) const {
    using L = Layer<N, n>;
    Plane* gradient = layers::gradient_of<n>(m);
    const Convolution::Buffers on = buffers<n>(m, gradient);
    convolutions_[n].backward_weights(on);
    if constexpr (bf16)
      runner_.elements(L::biases - L::weights,
                       cuda_model::Widen{d_weights_.data() + L::weights, m.s.gradient + L::weights});
    if constexpr (!L::first) convolutions_[n].backward_input(on);
    backward_biases(L::outputs, L::to_plane, gradient, m.s.gradient + L::biases);
  }
  /// Sums each plane of [images x channels], then over the images.
  void backward_biases(int channels, int plane, const Plane* planes, float* d_biases) const {
    constexpr bool as_row = bf16;  // the same values; a pitch of one value of 2 bytes is not aligned
    runner_.product(std::int64_t{images_} * channels, 1, plane, {planes}, {plane_ones_.data(), as_row},
                    plane_sums_.data());
    runner_.product_in_f32(1, channels, images_, {image_ones_.data()}, {plane_sums_.data()}, d_biases);
  }
  /// `output`: its values or, in the backward pass, their gradient.
  template <int n>
  [[nodiscard]] Convolution::Buffers buffers(const Memory& m, Plane* output) const {
    using L = Layer<N, n>;
    const void* of_layer = m.s.weights + L::weights;
    void* d_of_layer = m.s.gradient + L::weights;
    if constexpr (bf16) of_layer = weights_.data() + L::weights, d_of_layer = d_weights_.data() + L::weights;
    return {.input = layers::inputs_of<n>(m),
            .weights = of_layer,
            .biases = m.s.weights + L::biases,
            .output = output,
            .d_input = L::first ? nullptr : m.d_a[std::max(n - 1, 0)],
            .d_weights = d_of_layer,
            .workspace = workspace_.data(),
            .workspace_bytes = workspace_.bytes()};
  }
  const Runner& runner_;
  int images_, channels_ = 0;
  std::deque<Convolution> convolutions_;
  Array<std::uint8_t> workspace_;
  Array<Bf16> weights_, d_weights_;  ///< of bf16
  Array<Plane> plane_ones_;
  Array<float> image_ones_, plane_sums_;
};

template <Math math>
using Training = RegisterTraining<layers::LayersShard<Layers<Mnist, math>>, layers::LayersShard<Layers<Cifar10, math>>>;

constexpr Model model{"cudnn", "cudnn", DeviceKind::gpu};
const Training<Math::f32> f32{"layers", model};
const Training<Math::tf32> tf32{"layers_tf32", model};
const Training<Math::bf16> bf16{"layers_bf16", model};

}  // namespace
}  // namespace league::cnn
