// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/logistic_regression/kokkos_unfused.hpp"

namespace league::kokkos::logistic_regression {
namespace {

template <class T>
class Unfused final : public UnfusedPart<T> {
 public:
  using UnfusedPart<T>::UnfusedPart;
  Launch configure(Launch launch) override { return this->choose(launch); }
  void accumulate() override {
    const Rows<T> rows = this->all_rows();
    const State state = this->state();
    T* excess = this->excess_.data();
    if constexpr (on_gpu) {
      logits_of<T>(this->exec_, this->launch_, rows, state, this->packs());
      this->terms(false);
      gradient_of<T>(this->exec_, this->launch_, rows, state, this->packs(), this->partials_.data());
    } else {
      accumulate_on_host(rows, state, excess);
    }
    this->finish(nullptr);
  }

 private:
  /// The sums stay where they are from pass to pass: the last one adds to those of the second.
  void accumulate_on_host(const Rows<T>& rows, const State& state, T* excess) {
    each_worker(this->exec_, "logistic_regression/logits", this->launch_, state, [=](Worker worker) {
      host_logits_of_rows(rows, blocks_of(rows.count, worker.rank, worker.of), state.theta, excess);
    });
    this->terms(false);
    double* partials = this->partials_.data();
    const int n = gradient_sums(this->features_);
    each_worker(this->exec_, "logistic_regression/gradient", this->launch_, state, [=](Worker worker) {
      host_gradient_of_rows(rows, blocks_of(rows.count, worker.rank, worker.of), excess, partials + worker.rank * n);
    });
  }
};

std::unique_ptr<Prepared> prepare(const LogisticRegression& problem, const Context& context) {
  return with_type<float, double>(problem.dtype, [&]<class T>() {
    return solve<Unfused<T>>(problem, context, problem.steps, Execution::stepwise);
  });
}

const Register<LogisticRegression> unfused{"unfused", kokkos::model, prepare};

}  // namespace
}  // namespace league::kokkos::logistic_regression
