// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cudnn.h>

#include <source_location>

#include "backends/runtime.hpp"

namespace league::cudnn {

/// The functions of libcudnn.so.9, loaded at first use: executables start without it.
struct Library {
  decltype(&cudnnGetErrorString) error_text = nullptr;
  decltype(&cudnnGetVersion) version = nullptr;
  decltype(&cudnnCreate) create = nullptr;
  decltype(&cudnnDestroy) destroy = nullptr;
  decltype(&cudnnSetStream) set_stream = nullptr;
  decltype(&cudnnCreateTensorDescriptor) create_tensor = nullptr;
  decltype(&cudnnDestroyTensorDescriptor) destroy_tensor = nullptr;
  decltype(&cudnnSetTensor4dDescriptor) set_tensor = nullptr;
  decltype(&cudnnCreateFilterDescriptor) create_filter = nullptr;
  decltype(&cudnnDestroyFilterDescriptor) destroy_filter = nullptr;
  decltype(&cudnnSetFilter4dDescriptor) set_filter = nullptr;
  decltype(&cudnnCreateActivationDescriptor) create_activation = nullptr;
  decltype(&cudnnDestroyActivationDescriptor) destroy_activation = nullptr;
  decltype(&cudnnSetActivationDescriptor) set_activation = nullptr;
  decltype(&cudnnCreateConvolutionDescriptor) create_convolution = nullptr;
  decltype(&cudnnDestroyConvolutionDescriptor) destroy_convolution = nullptr;
  decltype(&cudnnSetConvolution2dDescriptor) set_convolution = nullptr;
  decltype(&cudnnSetConvolutionMathType) set_math = nullptr;
  decltype(&cudnnFindConvolutionForwardAlgorithmEx) find_forward = nullptr;
  decltype(&cudnnFindConvolutionBackwardDataAlgorithmEx) find_backward_data = nullptr;
  decltype(&cudnnFindConvolutionBackwardFilterAlgorithmEx) find_backward_filter = nullptr;
  decltype(&cudnnConvolutionForward) forward = nullptr;
  decltype(&cudnnConvolutionBiasActivationForward) forward_with_bias = nullptr;
  decltype(&cudnnConvolutionBackwardData) backward_data = nullptr;
  decltype(&cudnnConvolutionBackwardFilter) backward_filter = nullptr;

  /// @throws std::runtime_error naming the call's place
  void check(cudnnStatus_t status, std::source_location where = std::source_location::current()) const;
};

/// @throws Unsupported if it is not found or too old
const Library& library();

/// The queue's handle, created at first use and owned by the runtime. Makes the queue's device the current one.
cudnnHandle_t handle(Runtime& runtime, Queue& queue);

}  // namespace league::cudnn
