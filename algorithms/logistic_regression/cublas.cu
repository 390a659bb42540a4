// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <limits>

#include "algorithms/logistic_regression/cuda_unfused.hpp"
#include "backends/cuda/cublas.hpp"

// The library multiplies: X theta, and X^T (p - y); what is between is `unfused`'s.
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
class Cublas final : public UnfusedPart<T> {
 public:
  Cublas(const LogisticRegression& problem, const Context& context, const Shard& shard)
      : UnfusedPart<T>(problem, context, shard),
        handle_(cublas_handle(context.runtime, this->queue())),
        weights_(this->queue(), problem.features),
        gradient_(this->queue(), problem.features) {
    if (this->pitch_ > std::numeric_limits<int>::max())
      throw Unsupported("cuBLAS counts rows in 32 bits: " + std::to_string(shard.rows.size()) + " are too many");
  }
  void bind(Outputs& outputs) override { outputs.at(LogisticRegression::theta).form = LogisticRegression::library; }
  Launch configure(Launch launch) override {
    if (launch != Launch{}) throw Unsupported("cuBLAS chooses its own launch");
    this->choose({});
    return {};
  }
  void accumulate() override {
    weights_of<<<1, LogisticRegression::most_features, 0, stream(this->queue())>>>(this->features_, this->state(),
                                                                                   weights_.data());
    check_launch();
    gradient_.clear();  // without rows the library leaves it alone
    if (this->rows().size() > 0) product(handle_, this->all_rows(), false, weights_.data(), this->excess_.data());
    this->terms(true);
    if (this->rows().size() > 0) product<T>(handle_, this->all_rows(), true, this->excess_.data(), gradient_.data());
    this->finish(gradient_.data());
  }

 private:
  cublasHandle_t handle_;
  Array<T> weights_, gradient_;
};

std::unique_ptr<Prepared> prepare(const LogisticRegression& problem, const Context& context) {
  return with_type<float, double>(
      problem.dtype, [&]<class T>() { return solve<Cublas<T>>(problem, context, problem.steps, Execution::stepwise); });
}

const Register<LogisticRegression> unfused{"unfused", cuda::library("cublas"), prepare};

}  // namespace
}  // namespace league::cuda::logistic_regression
