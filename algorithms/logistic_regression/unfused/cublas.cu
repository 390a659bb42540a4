// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <limits>

#include "algorithms/logistic_regression/unfused/cuda.hpp"
#include "backends/cuda/cublas.hpp"

// The library multiplies X theta and X^T (p - y); the kernels between are those of `unfused`.
namespace league::cuda::logistic_regression {
namespace {

/// out = X v, or X^T v, for the rows' columns.
template <class T>
void product(cublasHandle_t handle, const Rows<T>& rows, bool transposed, const T* v, T* out) {
  const T one = 1, zero = 0;
  const cublasOperation_t operation = transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  const auto m = static_cast<int>(rows.count), pitch = static_cast<int>(rows.pitch);
  if constexpr (std::is_same_v<T, float>)
    check_cublas(cublasSgemv(handle, operation, m, rows.features, &one, rows.columns, pitch, v, 1, &zero, out, 1));
  else
    check_cublas(cublasDgemv(handle, operation, m, rows.features, &one, rows.columns, pitch, v, 1, &zero, out, 1));
}

template <class T>
__global__ void weights_of(int features, State state, T* weights) {
  const int d = static_cast<int>(threadIdx.x);
  if (d < features) weights[d] = static_cast<T>(state.theta[d + 1]);
}

template <class T>
class Cublas final : public IterativeShard {
 public:
  Cublas(const LogisticRegression& problem, const Context& context, const Shard& shard)
      : IterativeShard(context, shard), handle_(cublas_handle(context.runtime, queue())), memory_(*this, problem) {
    declare(weights_, "logistic_regression/weights", problem.features);
    declare(gradient_, "logistic_regression/gradient", problem.features);
    result(LogisticRegression::theta).form = LogisticRegression::library;
    if (memory_.rows.pitch > std::numeric_limits<int>::max())
      throw Unsupported("cuBLAS counts rows in 32 bits: " + std::to_string(shard.rows.size()) + " are too many");
  }
  Launch configure(Launch launch) override {
    if (launch != Launch{}) throw Unsupported("cuBLAS chooses its own launch");
    memory_.choose({});
    return {};
  }
  void begin() const override { begin_solve(memory_.rows); }
  void accumulate() const override {
    const Rows<T> rows = memory_.rows.all_rows();
    weights_of<<<1, LogisticRegression::max_features, 0, stream(queue())>>>(rows.features, memory_.rows.state(),
                                                                            weights_.data());
    check_launch();
    gradient_.clear();  // without rows the library does not write it
    if (rows.count > 0) product(handle_, rows, false, weights_.data(), memory_.residual.data());
    put_terms(memory_, true);
    if (rows.count > 0) product<T>(handle_, rows, true, memory_.residual.data(), gradient_.data());
    finish<T>(memory_, gradient_.data());
  }
  [[nodiscard]] Buffer sums() const override { return memory_.rows.buffer(); }
  void update() const override { descend_alone(memory_.rows); }

 private:
  cublasHandle_t handle_;
  UnfusedMemory<T> memory_;
  Array<T> weights_, gradient_;
};

const RegisterSolve<LogisticRegression> unfused{
    "unfused", cuda::library(cuda::blas), by_type<Cublas>, {Execution::stream}};

}  // namespace
}  // namespace league::cuda::logistic_regression
