// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/distance_matrix/common/shard.hpp"
#include "backends/cuda/cublas.hpp"

// The library multiplies all points with those of the rows. Then, in place, a block takes blockDim neighbouring
// distances of a row, one per thread.
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

/// Products in `out` to distances, in place.
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
class Cublas final : public DistanceShard {
 public:
  Cublas(const DistanceMatrix& problem, const Context& context, const Shard& shard)
      : DistanceShard(problem, context, shard), handle_(cuda::cublas_handle(runtime(), queue())) {
    declare(norms_, "distance_matrix/norms", problem.n);
    declare_matrix(points_, out_, {.expanded = true});
  }
  Launch configure(Launch launch) override {
    if (launch != Launch{}) throw Unsupported("cuBLAS chooses its own launch");
    return {};
  }

 private:
  void block(Stages& stages, Range range) override {
    const std::int64_t n = problem().n, dimension = problem().dimension;
    const cudaStream_t stream = cuda::stream(queue());
    const auto blocks = static_cast<unsigned>(ceil_div<std::int64_t>(n, threads));
    const auto rows = static_cast<unsigned>(std::min<std::int64_t>(range.size(), 4096));
    const T* points = points_.data();
    stages.stage(queue(), "norms", [&] {
      norms_of<<<blocks, threads, 0, stream>>>(n, dimension, points, norms_.data());
      cuda::check_launch();
    });
    stages.stage(queue(), "product", [&] {
      cuda::products_of_rows(handle_, range.size(), n, dimension, points + range.begin * dimension, points,
                             out_.data());
    });
    stages.stage(queue(), "finish", [&] {
      finish<<<dim3(blocks, rows), threads, 0, stream>>>(n, range.begin, range.size(), problem().euclidean,
                                                         norms_.data(), out_.data());
      cuda::check_launch();
    });
  }
  static constexpr int threads = 256;
  cublasHandle_t handle_;
  cuda::Array<T> points_, out_, norms_;
};

const RegisterSplit<DistanceMatrix> variant{"gram", cuda::library(cuda::blas), by_type<Cublas>};

}  // namespace
}  // namespace league::distance_matrix
