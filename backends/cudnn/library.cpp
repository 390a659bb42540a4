// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/cudnn/library.hpp"

#include <cuda_runtime.h>

#include <memory>
#include <string>

#include "backends/shared_library.hpp"

namespace league::cudnn {
namespace {

#if defined(LEAGUE_CUDNN_LIBRARY)
constexpr const char* built_with = LEAGUE_CUDNN_LIBRARY;
#else
constexpr const char* built_with = nullptr;
#endif

const RegisterBackend backend{"cudnn", 4, [](const Runtime& runtime) -> std::unique_ptr<Backend> {
                                return std::make_unique<LibrarySession>(runtime, [] { return library().version(); });
                              }};

struct Handle {
  std::shared_ptr<cudnnContext> handle;
};

}  // namespace

void Library::check(cudnnStatus_t status, std::source_location where) const {
  if (status == CUDNN_STATUS_SUCCESS) return;
  throw std::runtime_error(std::string("cudnn: ") + error_text(status) + " (" + where.file_name() + ":" +
                           std::to_string(where.line()) + "; CUDNN_LOGLEVEL_DBG=3 shows more)");
}

const Library& library() {
  static const Library loaded = [] {
    const SharedLibrary from("libcudnn.so.9", built_with);
    Library all;
    from.resolve("cudnnGetErrorString", all.error_text);
    from.resolve("cudnnGetVersion", all.version);
    from.resolve("cudnnCreate", all.create);
    from.resolve("cudnnDestroy", all.destroy);
    from.resolve("cudnnSetStream", all.set_stream);
    from.resolve("cudnnCreateTensorDescriptor", all.create_tensor);
    from.resolve("cudnnDestroyTensorDescriptor", all.destroy_tensor);
    from.resolve("cudnnSetTensor4dDescriptor", all.set_tensor);
    from.resolve("cudnnCreateFilterDescriptor", all.create_filter);
    from.resolve("cudnnDestroyFilterDescriptor", all.destroy_filter);
    from.resolve("cudnnSetFilter4dDescriptor", all.set_filter);
    from.resolve("cudnnCreateActivationDescriptor", all.create_activation);
    from.resolve("cudnnDestroyActivationDescriptor", all.destroy_activation);
    from.resolve("cudnnSetActivationDescriptor", all.set_activation);
    from.resolve("cudnnCreateConvolutionDescriptor", all.create_convolution);
    from.resolve("cudnnDestroyConvolutionDescriptor", all.destroy_convolution);
    from.resolve("cudnnSetConvolution2dDescriptor", all.set_convolution);
    from.resolve("cudnnSetConvolutionMathType", all.set_math);
    from.resolve("cudnnFindConvolutionForwardAlgorithmEx", all.find_forward);
    from.resolve("cudnnFindConvolutionBackwardDataAlgorithmEx", all.find_backward_data);
    from.resolve("cudnnFindConvolutionBackwardFilterAlgorithmEx", all.find_backward_filter);
    from.resolve("cudnnConvolutionForward", all.forward);
    from.resolve("cudnnConvolutionBiasActivationForward", all.forward_with_bias);
    from.resolve("cudnnConvolutionBackwardData", all.backward_data);
    from.resolve("cudnnConvolutionBackwardFilter", all.backward_filter);
    return all;
  }();
  return loaded;
}

cudnnHandle_t handle(Runtime& runtime, Queue& queue) {
  const auto on = static_cast<cudaStream_t>(queue.handle());
  if (cudaSetDevice(queue.device().index) != cudaSuccess)
    throw std::runtime_error("GPU " + std::to_string(queue.device().index) + " cannot be made the current one");
  return runtime
      .attachment<Handle>(queue.device(),
                          [on] {
                            cudnnHandle_t handle = nullptr;
                            library().check(library().create(&handle));
                            Handle kept{{handle, [](cudnnContext* context) { library().destroy(context); }}};
                            library().check(library().set_stream(handle, on));
                            return kept;
                          })
      .handle.get();
}

}  // namespace league::cudnn
