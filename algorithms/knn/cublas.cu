// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/knn/cuda_part.hpp"
#include "backends/cuda/cublas.hpp"

// The library multiplies a block of queries with all training rows; the selection makes distances of the products.
namespace league::knn::cuda_model {
namespace {

// A thread takes a row, its lanes the features. All lanes of a block go round equally often: they shuffle together.
/// Rows as floats, as the other methods pack them, and their squared norms.
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
    for (int step = blockDim.x / 2; step > 0; step /= 2) norm += cuda::shuffle_xor(norm, step, blockDim.x);
    if (threadIdx.x == 0) norms[row] = static_cast<float>(norm);
  }
}

template <class T, class Element>
class Cublas final : public CudaPart<T> {
  using D = Distance<Element>;

 public:
  Cublas(const Knn& knn, const Context& context, const Shard& shard)
      : CudaPart<T>(knn, context, shard, 4 * (knn.train.rows() + shard.rows.size()) * (knn.features + 1)),
        handle_(cuda::cublas_handle(context.runtime, this->queue())),
        wide_train_(this->queue(), this->n_ * this->features_),
        wide_test_(this->queue(), this->m_ * this->features_),
        train_norms_(this->queue(), this->n_),
        test_norms_(this->queue(), this->m_) {
    const std::int64_t row_bytes = 4 * this->n_;
    require_memory(this->bytes_ + row_bytes, this->budget_bytes_);
    at_once_ = std::min({this->m_, (this->budget_bytes_ - this->bytes_) / row_bytes,
                         std::max(most_products / this->n_, std::int64_t{1})});
    products_ = {this->queue(), at_once_ * this->n_};
  }
  Launch configure(Launch launch) override {
    if (launch != Launch{}) throw Unsupported("cuBLAS chooses its own launch");
    return {};
  }
  void compute(Stages& stages) override {
    stages.stage(this->queue(), "pack", [&] {
      widen_rows(this->n_, this->train_.data(), wide_train_.data(), train_norms_.data());
      widen_rows(this->m_, this->test_.data(), wide_test_.data(), test_norms_.data());
    });
    for (std::int64_t first = 0; first < this->m_; first += at_once_) {
      const std::int64_t queries = std::min(at_once_, this->m_ - first);
      stages.stage(this->queue(), "distance", [&] {
        cuda::products_of_rows(handle_, queries, this->n_, this->features_, wide_test_.data() + first * this->features_,
                               wide_train_.data(), products_.data());
      });
      stages.stage(this->queue(), "select", [&] {
        this->select_rows({league_of(queries), 256, 1}, first, queries,
                          Expanded<D>{products_.data(), test_norms_.data() + first, train_norms_.data(), this->n_});
      });
    }
    stages.stage(this->queue(), "vote", [&] { this->vote_all(); });
  }

 private:
  void widen_rows(std::int64_t count, const T* data, float* wide, float* norms) {
    const dim3 block(cuda::warp_size, 8);
    widen<Element><<<league_of(ceil_div<std::int64_t>(count, block.y)), block, 0, cuda::stream(this->queue())>>>(
        count, static_cast<int>(this->features_), data, wide, norms);
    cuda::check_launch();
  }
  static constexpr std::int64_t most_products = std::int64_t{1} << 31;  ///< of one call
  cublasHandle_t handle_;
  std::int64_t at_once_;  ///< queries whose products are in memory
  cuda::Array<float> wide_train_, wide_test_, train_norms_, test_norms_, products_;
};

std::unique_ptr<Prepared> prepare(const Knn& problem, const Context& context) {
  return with_element(problem, [&]<class T, class Element>() { return split<Cublas<T, Element>>(problem, context); });
}

const Register<Knn> registered{"gram", cuda::library("cublas"), prepare};

}  // namespace
}  // namespace league::knn::cuda_model
