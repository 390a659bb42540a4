// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>

#include "algorithms/cnn/cuda_runner.hpp"
#include "algorithms/cnn/layers_part.hpp"
#include "backends/cudnn/convolution.hpp"

// `layers`: the convolutions of cuDNN, planes in NCHW. Its max-pool returns no indices, and its backward pass is not
// deterministic: that layer is ours. The gradients of the biases are products with ones, by cuBLAS:
// cudnnConvolutionBackwardBias is slower than a convolution.
namespace league::cnn {
namespace {

using cudnn::Convolution, layers::Memory;

struct SetOnes {
  float* values;
  __device__ void operator()(int at) const { values[at] = 1; }
};

template <bool tf32>
class Layers {
 public:
  using Net = Mnist;
  using Runner = cuda_model::Runner<tf32>;
  static constexpr const char* form = tf32 ? Cnn::tf32_all : "";

  Layers(const Runner& runner, int images)
      : runner_(runner),
        images_(images),
        first_(runner.runtime(), runner.queue(), {images, 1, channels1, side, 3}, Convolution::Epilogue::bias_relu,
               math),
        second_(runner.runtime(), runner.queue(), {images, channels1, channels2, side1, 3}, Convolution::Epilogue::none,
                math) {}
  static int chunk() { return 1; }
  template <class Part>
  void declare(Part& part) {
    constexpr std::int64_t mib = std::int64_t{1} << 20;
    part.declare(workspace_, "cnn/cudnn", std::clamp(images_ * mib, 64 * mib, 1024 * mib));
    part.declare(ones_, "cnn/ones", ones());
    part.declare(plane_sums_, "cnn/plane_sums", std::int64_t{images_} * channels2);
  }
  void choose(const Memory& m) {
    first_.choose(of_first(m, m.a[0]));
    second_.choose(of_second(m));
    runner_.elements(ones(), SetOnes{ones_.data()});
  }
  void forward(const Memory& m) const {
    convolve(m);
    runner_.images(images_, layers::Pool{m});
  }
  void backward(const Memory& m) const {
    runner_.images(images_, layers::Unpool{m});
    differentiate(m);
  }
  void warm_up(const Memory& m) const {
    convolve(m);
    differentiate(m);
  }

 private:
  static constexpr Convolution::Math math = tf32 ? Convolution::Math::tf32 : Convolution::Math::f32;
  template <class T>
  using Array = typename Runner::template Array<T>;
  void convolve(const Memory& m) const {
    first_.forward(of_first(m, m.a[0]));
    second_.forward(of_second(m));
  }
  void differentiate(const Memory& m) const {
    second_.backward_weights(of_second(m));
    second_.backward_input(of_second(m));
    backward_biases(channels2, side2, m.z[1], m.s.gradient + conv2_biases);
    runner_.images(images_, layers::MaskInput{m});
    first_.backward_weights(of_first(m, m.d_a[0]));
    backward_biases(channels1, side1, m.d_a[0], m.s.gradient + conv1_biases);
  }
  [[nodiscard]] int ones() const { return std::max(images_, side1 * side1); }
  /// Sums each plane of [images x channels], then over the images.
  void backward_biases(int channels, int side, const float* planes, float* d_biases) const {
    runner_.product(std::int64_t{images_} * channels, 1, side * side, {planes}, {ones_.data()}, plane_sums_.data());
    runner_.product(1, channels, images_, {ones_.data()}, {plane_sums_.data()}, d_biases);
  }
  /// `output`: its values or, in the backward pass, their gradient.
  [[nodiscard]] Convolution::Buffers of_first(const Memory& m, float* output) const {
    return buffers(m, m.x, conv1_weights, conv1_biases, output, nullptr);
  }
  [[nodiscard]] Convolution::Buffers of_second(const Memory& m) const {
    return buffers(m, m.a[0], conv2_weights, conv2_biases, m.z[1], m.d_a[0]);
  }
  [[nodiscard]] Convolution::Buffers buffers(const Memory& m, const float* input, int weights, int biases,
                                             float* output, float* d_input) const {
    return {.input = input,
            .weights = m.s.weights + weights,
            .biases = m.s.weights + biases,
            .output = output,
            .d_input = d_input,
            .d_weights = m.s.gradient + weights,
            .workspace = workspace_.data(),
            .workspace_bytes = workspace_.bytes()};
  }
  const Runner& runner_;
  int images_;
  Convolution first_, second_;
  Array<std::uint8_t> workspace_;
  Array<float> ones_, plane_sums_;
};

constexpr Model model{"cudnn", "cudnn", DeviceKind::gpu};
const RegisterTraining<layers::LayersPart<Layers<false>>> f32{"layers", model};
const RegisterTraining<layers::LayersPart<Layers<true>>> tf32{"layers_tf32", model};

}  // namespace
}  // namespace league::cnn
