// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/logistic_regression/cuda_unfused.hpp"

namespace league::cuda::logistic_regression {
namespace {

template <class T>
class Unfused final : public UnfusedPart<T> {
 public:
  using UnfusedPart<T>::UnfusedPart;
  Launch configure(Launch launch) override { return this->choose(launch); }
  void accumulate() override {
    const cudaStream_t on = stream(this->queue());
    logits_of<<<this->blocks(), block_of(this->launch_), 0, on>>>(this->all_rows(), this->state(), this->packs());
    check_launch();
    this->terms(false);
    gradient_of<<<this->blocks(), block_of(this->launch_), this->scratch(), on>>>(
        this->all_rows(), this->state(), this->packs(), this->partials_.data());
    check_launch();
    this->finish(nullptr);
  }
};

std::unique_ptr<Prepared> prepare(const LogisticRegression& problem, const Context& context) {
  return with_type<float, double>(problem.dtype, [&]<class T>() {
    return solve<Unfused<T>>(problem, context, problem.steps, Execution::stepwise);
  });
}

const Register<LogisticRegression> unfused{"unfused", cuda::model, prepare};

}  // namespace
}  // namespace league::cuda::logistic_regression
