// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <functional>

#include "algorithms/cnn/layers_memory.hpp"
#include "algorithms/contract/prepared.hpp"
#include "backends/cuda/cublas.hpp"

/// The kernels between library calls, and the products of cuBLAS, for the models that use them.
namespace league::cnn::cuda_model {

// One element per thread.
template <class Body>
__global__ void run_elements(const Body body, int count) {
  const int at = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (at < count) body(at);
}

/// Threads of the blocks that share an image.
template <class Body>
inline constexpr int image_threads = Body::per_image < 256 ? (Body::per_image + 31) / 32 * 32 : 256;
template <class Body>
inline constexpr int image_blocks = (Body::per_image + image_threads<Body> - 1) / image_threads<Body>;

// Several blocks per image, one element per thread.
template <class Body>
__global__ void __launch_bounds__(image_threads<Body>) run_images(const Body body) {
  const int block = static_cast<int>(blockIdx.x), i = block / image_blocks<Body>;
  const int at = block % image_blocks<Body> * image_threads<Body> + static_cast<int>(threadIdx.x);
  if (at < Body::per_image) body(i, at);
}

/// `tf32`: products with factors in tf32, else in f32.
template <bool tf32 = false>
class Runner {
 public:
  using Factor = layers::Factor;
  using Plane = float;  ///< a value of the convolutions' planes
  template <class T>
  using Array = cuda::Array<T>;

  Runner(const Context& context, Queue& queue)
      : runtime_(context.runtime), queue_(queue), handle_(cuda::cublas_handle(runtime_, queue)) {}
  [[nodiscard]] Runtime& runtime() const { return runtime_; }
  [[nodiscard]] Queue& queue() const { return queue_; }

  /// `max_factor`: values of the largest factor of a product. Calls `warm_up` once the memory declared so far is
  /// allocated: libraries initialise at their first call, which is not possible during graph capture.
  template <class MethodShard>
  void declare(MethodShard& shard, std::int64_t /*max_factor*/, std::function<void()> warm_up) {
    shard.ledger().declare(workspace_, "cnn/cublas", cuda::cublas_workspace_bytes, std::move(warm_up));
  }
  template <class Body>
  void elements(int count, const Body& body) const {
    constexpr int threads = 256;
    run_elements<<<static_cast<unsigned>(ceil_div(count, threads)), threads, 0, cuda::stream(queue_)>>>(body, count);
    cuda::check_launch();
  }
  template <class Body>
  void images(int count, const Body& body) const {
    const auto blocks = static_cast<unsigned>(count) * static_cast<unsigned>(image_blocks<Body>);
    run_images<<<blocks, image_threads<Body>, 0, cuda::stream(queue_)>>>(body);
    cuda::check_launch();
  }
  static int slices(int wanted) { return wanted; }
  void product(std::int64_t rows, std::int64_t columns, std::int64_t depth, Factor a, Factor b, float* out,
               int slices = 1) const {
    if (tf32) cuda::check_cublas(cublasSetMathMode(handle_, CUBLAS_TF32_TENSOR_OP_MATH));
    product_in_f32(rows, columns, depth, a, b, out, slices);
    if (tf32) cuda::check_cublas(cublasSetMathMode(handle_, CUBLAS_PEDANTIC_MATH));  // the queue's, for all others
  }
  void product_in_f32(std::int64_t rows, std::int64_t columns, std::int64_t depth, Factor a, Factor b, float* out,
                      int slices = 1) const {
    const cuda::CublasWorkspace workspace = borrowed();
    cuda::product(handle_, rows, columns, depth, cuda::CublasFactor{a.values, a.transposed},
                  cuda::CublasFactor{b.values, b.transposed}, out, slices);
  }

 protected:
  [[nodiscard]] cublasHandle_t handle() const { return handle_; }
  /// The handle's workspace for some calls.
  [[nodiscard]] cuda::CublasWorkspace borrowed() const { return {handle_, cuda::stream(queue_), workspace_.data()}; }

 private:
  Runtime& runtime_;
  Queue& queue_;
  cublasHandle_t handle_;
  Array<std::uint8_t> workspace_;
};

}  // namespace league::cnn::cuda_model
