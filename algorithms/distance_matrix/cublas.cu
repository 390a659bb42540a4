// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/distance_matrix/part.hpp"
#include "backends/cuda/cublas.hpp"

// The library multiplies all points with those of the rows; then, in place, a block takes blockDim neighbouring
// distances of a row, a thread one.
namespace league::distance_matrix {
namespace {

template <class T>
__global__ void norms_of(std::int64_t n, std::int64_t dimension, const T* points, T* norms) {
  const std::int64_t row = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (row >= n) return;
  double norm = 0;
  for (std::int64_t k = 0; k < dimension; ++k) {
    const double value = points[row * dimension + k];
    norm += value * value;
  }
  norms[row] = static_cast<T>(norm);
}

/// out holds the products.
template <class T>
__global__ void finish(std::int64_t n, std::int64_t first, std::int64_t rows, bool euclidean, const T* norms, T* out) {
  const std::int64_t column = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (column >= n) return;
  const T norm = norms[column];
  for (std::int64_t row = blockIdx.y; row < rows; row += gridDim.y) {
    T& value = out[row * n + column];
    const T squared = norms[first + row] + norm - 2 * value;
    const T distance = first + row == column || squared < 0 ? T{0} : squared;
    value = euclidean ? sqrt(distance) : distance;
  }
}

template <class T>
class Cublas final : public DistancePart<cuda::Array<T>> {
 public:
  Cublas(const DistanceMatrix& problem, const Context& context, const Shard& shard)
      : DistancePart<cuda::Array<T>>(
            problem, context, shard, {.expanded = true, .extra_bytes = problem.n * std::int64_t{sizeof(T)}},
            [&](const char*, std::int64_t size) { return cuda::Array<T>(context.runtime.queue(shard.device), size); }),
        handle_(cuda::cublas_handle(context.runtime, this->queue())),
        norms_(this->queue(), this->n_) {}
  Launch configure(Launch launch) override {
    if (launch != Launch{}) throw Unsupported("cuBLAS chooses its own launch");
    return {};
  }

 private:
  void block(Stages& stages, Range range, T* out) override {
    const cudaStream_t stream = cuda::stream(this->queue());
    const auto blocks = static_cast<unsigned>(ceil_div<std::int64_t>(this->n_, threads));
    const auto rows = static_cast<unsigned>(std::min<std::int64_t>(range.size(), 4096));
    const T* points = this->points_.data();
    stages.stage(this->queue(), "norms", [&] {
      norms_of<<<blocks, threads, 0, stream>>>(this->n_, this->dimension_, points, norms_.data());
      cuda::check_launch();
    });
    stages.stage(this->queue(), "product", [&] {
      cuda::products_of_rows(handle_, range.size(), this->n_, this->dimension_, points + range.begin * this->dimension_,
                             points, out);
    });
    stages.stage(this->queue(), "finish", [&] {
      finish<<<dim3(blocks, rows), threads, 0, stream>>>(this->n_, range.begin, range.size(), this->euclidean_,
                                                         norms_.data(), out);
      cuda::check_launch();
    });
  }
  static constexpr int threads = 256;
  cublasHandle_t handle_;
  cuda::Array<T> norms_;
};

std::unique_ptr<Prepared> prepare(const DistanceMatrix& problem, const Context& context) {
  return with_type<float, double>(problem.dtype, [&]<class T>() { return split<Cublas<T>>(problem, context); });
}

const Register<DistanceMatrix> variant{"gram", cuda::library("cublas"), prepare};

}  // namespace
}  // namespace league::distance_matrix
