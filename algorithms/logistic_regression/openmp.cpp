// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/openmp/openmp.hpp"

#include <algorithm>

#include "algorithms/logistic_regression/host.hpp"
#include "algorithms/logistic_regression/host_part.hpp"

// A thread takes neighbouring blocks of 512 rows, feature by feature; vector lanes take neighbouring rows.
namespace league::logistic {
namespace {

template <class T, Method method>
class OpenMp final : public HostPart<T, method> {
 public:
  using HostPart<T, method>::HostPart;
  Launch configure(Launch launch) override {
    threads_ = openmp::threads(this->queue(), launch);
    partials_.assign(static_cast<std::size_t>(threads_) * pitch(), 0.0);
    return {threads_, 1, 1};
  }
  void accumulate() override {
    if (this->stopped()) return;
    const Rows<T> rows = this->all_rows();
    const double* theta = this->theta_.data();
#pragma omp parallel num_threads(threads_)
    {
#pragma omp for schedule(static)
      for (int worker = 0; worker < threads_; ++worker) {
        double* mine = partials_.data() + static_cast<std::size_t>(worker) * pitch();
        std::fill_n(mine, pitch(), 0.0);
        const Blocks blocks = blocks_of(rows.count, worker, threads_);
        if constexpr (method == Method::fused) host_add_rows(rows, blocks, theta, mine, host_add_block<T>);
        if constexpr (method == Method::newton) host_add_rows(rows, blocks, theta, mine, host_add_newton_block<T>);
        if constexpr (method == Method::unfused) host_logits_of_rows(rows, blocks, theta, this->excess_.data());
      }
      if constexpr (method == Method::unfused) {
#pragma omp for schedule(static)
        for (int worker = 0; worker < threads_; ++worker)
          host_terms_of_rows(rows, blocks_of(rows.count, worker, threads_), this->excess_.data(),
                             partials_.data() + static_cast<std::size_t>(worker) * pitch());
#pragma omp for schedule(static)
        for (int worker = 0; worker < threads_; ++worker)
          host_gradient_of_rows(rows, blocks_of(rows.count, worker, threads_), this->excess_.data(),
                                partials_.data() + static_cast<std::size_t>(worker) * pitch());
      }
    }
    for (std::size_t i = 0; i < this->sums().size(); ++i) {
      double sum = 0;
      for (int worker = 0; worker < threads_; ++worker)
        sum += partials_[static_cast<std::size_t>(worker) * pitch() + i];
      this->sums()[i] = sum;
    }
  }

 private:
  /// Of the sums of one thread: whole cache lines.
  [[nodiscard]] std::size_t pitch() { return (this->sums().size() + 15) / 8 * 8; }
  int threads_ = 1;
  std::vector<double> partials_;
};

template <Method method>
std::unique_ptr<Prepared> prepare(const LogisticRegression& problem, const Context& context) {
  return with_type<float, double>(problem.dtype, [&]<class T>() {
    return solve<OpenMp<T, method>>(problem, context, problem.steps, Execution::stepwise);
  });
}

const Register<LogisticRegression> fused{"fused", openmp::model, prepare<Method::fused>};
const Register<LogisticRegression> unfused{"unfused", openmp::model, prepare<Method::unfused>};
const Register<LogisticRegression> newton{"newton", openmp::model, prepare<Method::newton>};

}  // namespace
}  // namespace league::logistic
