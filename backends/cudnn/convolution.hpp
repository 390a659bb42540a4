// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>

#include "backends/cudnn/library.hpp"

namespace league::cudnn {

/// A convolution without padding of square planes, NCHW, weights [outputs][inputs][kernel][kernel]. Algorithms are
/// chosen by their times.
class Convolution {
 public:
  /// Inputs and outputs, fixed addresses for graphs: f32, of `Math::bf16` all but the biases bf16.
  struct Buffers {
    const void *input, *weights;
    const float* biases;
    void* output;   ///< of `forward`; its gradient in the backward pass
    void* d_input;  ///< null: not computed
    void* d_weights;
    void* workspace;
    std::size_t workspace_bytes;
  };
  /// Epilogue of `forward`; none with `Math::bf16`.
  enum class Epilogue { none, bias_relu };
  /// Products in f32 (`CUDNN_FMA_MATH`), with factors in tf32 where an algorithm has them, or of tensors in bf16, with
  /// sums in f32.
  enum class Math { f32, tf32, bf16 };

  struct Shape {
    int images, inputs, outputs, side, kernel;
  };

  /// @throws Unsupported if the library is not found
  Convolution(Runtime& runtime, Queue& queue, const Shape& shape, Epilogue epilogue, Math math = Math::f32);

  /// Times the algorithms on these buffers, which are overwritten. Prefers a deterministic one unless another is
  /// faster.
  /// @pre nothing is being recorded
  /// @throws Unsupported if the library has none within the workspace limit
  void choose(const Buffers& on);
  /// @pre an algorithm was chosen, here and below
  void forward(const Buffers& on) const;
  void backward_input(const Buffers& on) const;
  void backward_weights(const Buffers& on) const;

 private:
  template <class T>
  using Descriptor = std::unique_ptr<std::remove_pointer_t<T>, cudnnStatus_t (*)(T)>;

  /// The handle, with the queue's device as the current one.
  [[nodiscard]] cudnnHandle_t handle() const;
  [[nodiscard]] cudnnStatus_t try_forward(const Buffers& on, cudnnConvolutionFwdAlgo_t algorithm) const;

  const Library& calls_ = library();
  Runtime& runtime_;
  Queue& queue_;
  Epilogue epilogue_;
  Math math_;
  Descriptor<cudnnTensorDescriptor_t> input_, output_, biases_;
  Descriptor<cudnnFilterDescriptor_t> weights_;
  Descriptor<cudnnConvolutionDescriptor_t> convolution_;
  Descriptor<cudnnActivationDescriptor_t> relu_;
  cudnnConvolutionFwdAlgo_t forward_{};
  cudnnConvolutionBwdDataAlgo_t backward_data_{};
  cudnnConvolutionBwdFilterAlgo_t backward_filter_{};
};

}  // namespace league::cudnn
