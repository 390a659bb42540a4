// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/knn/common/cuda.hpp"
#include "algorithms/knn/gram/memory.hpp"
#include "backends/cuda/cublas.hpp"

// The library multiplies a block of queries with all training rows; the selection computes distances from the products.
namespace league::knn::cuda_model {
namespace {

// A thread takes a row, its lanes the features. All lanes of a block run the same number of iterations, because they
// shuffle together.
/// Converts rows to floats, as the other methods pack them, and computes their squared norms.
template <class Element, class T>
__global__ void widen(std::int64_t n, int features, const T* data, float* wide, float* norms) {
  for (std::int64_t first = std::int64_t{blockIdx.x} * blockDim.y; first < n;
       first += std::int64_t{gridDim.x} * blockDim.y) {
    const std::int64_t row = min(first + threadIdx.y, n - 1);
    double norm = 0;
    for (int f = threadIdx.x; f < features; f += blockDim.x) {
      const float value = Element::widen(Element::pack(data[row * features + f]));
      wide[row * features + f] = value;
      norm += static_cast<double>(value) * value;
    }
    norm = blocks::lanes_sum(norm, static_cast<int>(blockDim.x));
    if (threadIdx.x == 0) norms[row] = static_cast<float>(norm);
  }
}

template <class T, class Element>
class Cublas final : public IndependentShard {
 public:
  Cublas(const Knn& problem, const Context& context, const Shard& shard)
      : IndependentShard(context, shard), handle_(cuda::cublas_handle(runtime(), queue())), memory_(*this, problem) {}
  Launch configure(Launch launch) override {
    if (launch != Launch{}) throw Unsupported("cuBLAS chooses its own launch");
    return {};
  }
  void compute(Stages& stages) override {
    const auto& knn = memory_.knn;
    stages.stage(queue(), "pack", [&] {
      widen_rows(knn.n, knn.train.data(), memory_.train.data(), memory_.train_norms.data());
      widen_rows(knn.m, knn.test.data(), memory_.test.data(), memory_.test_norms.data());
    });
    for (std::int64_t first = 0; first < knn.m; first += memory_.at_once) {
      const std::int64_t queries = std::min(memory_.at_once, knn.m - first);
      stages.stage(queue(), "distance", [&] {
        cuda::products_of_rows(handle_, queries, knn.n, knn.features, memory_.test.data() + first * knn.features,
                               memory_.train.data(), memory_.products.data());
      });
      stages.stage(queue(), "select", [&] {
        select_rows(queue(), knn, {league_of(queries), 256, 1}, first, queries,
                    memory_.template squared<Distance<Element>>(first));
      });
    }
    stages.stage(queue(), "vote", [&] { vote_all(queue(), knn); });
  }

 private:
  void widen_rows(std::int64_t count, const T* data, float* wide, float* norms) {
    const dim3 block(cuda::warp_size, 8);
    widen<Element><<<league_of(ceil_div<std::int64_t>(count, block.y)), block, 0, cuda::stream(queue())>>>(
        count, static_cast<int>(memory_.knn.features), data, wide, norms);
    cuda::check_launch();
  }
  cublasHandle_t handle_;
  GramMemory<T, cuda::Array> memory_;
};

const RegisterSplit<Knn> gram_variant{"gram", cuda::library(cuda::blas), by_element<Cublas>};

}  // namespace
}  // namespace league::knn::cuda_model
