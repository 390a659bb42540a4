// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>

#include "algorithms/softmax_regression/common/memory.hpp"
#include "backends/host_pass.hpp"

namespace league::softmax_regression {

/// Arguments of host threads in a step, with a gradient and a loss per thread.
template <class T>
struct HostWork {
  Descent descent;
  const T* x;
  const std::int32_t* labels;
  int threads;
  double* partials;  ///< [threads x partial_pitch]
  double* sums;

  /// Values per partial gradient: whole turns of classes, then the loss.
  [[nodiscard]] int partial_pitch() const { return turns(descent.classes) * classes_together * descent.pitch + 1; }
  [[nodiscard]] double* partial(int thread) const { return partials + std::int64_t{thread} * partial_pitch(); }
  /// Starts a step, and returns its rows.
  [[nodiscard]] Rows begin() const { return descent.own_rows(*descent.current = *descent.taken); }
  void add_column(int column) const {
    const int at = column == descent.classes * descent.pitch ? partial_pitch() - 1 : column;
    double sum = 0;
    for (int thread = 0; thread < threads; ++thread) sum += partial(thread)[at];
    sums[column] = sum;
  }
};

/// A shard on host threads; `add_rows` adds the rows of a step.
template <class T, class Pass, void (*add_rows)(const HostWork<T>&)>
class HostShard final : public IterativeShard {
 public:
  HostShard(const SoftmaxRegression& problem, const Context& context, const Shard& shard)
      : IterativeShard(context, shard), memory_(*this, problem) {
    memory_.declare_weights(problem.pitch);
  }
  Launch configure(Launch launch) override {
    launch = Pass::resolve(queue(), launch, {}, rows().size());
    threads_ = launch.league;
    declare(partials_, "softmax/partials", std::int64_t{threads_} * work().partial_pitch());
    return launch;
  }
  void begin() const override {
    queue().submit([descent = memory_.descent(), parameters = memory_.theta.size(), weights = memory_.weights.size()] {
      std::fill_n(descent.theta, parameters, 0.0);
      std::fill_n(descent.weights, weights, 0.0F);
      *descent.taken = 0;
    });
  }
  void accumulate() const override {
    queue().submit([work = work()] { add_rows(work); });
  }
  [[nodiscard]] Buffer sums() const override { return buffer_of(memory_.sums.data(), memory_.sums.size()); }
  void update() const override {
    queue().submit([work = work()] {
      for (int column = 0; column < work.descent.columns(); ++column) work.descent.take(column, work.sums[column]);
    });
  }

 private:
  [[nodiscard]] HostWork<T> work() const {
    return {memory_.descent(), memory_.x.data(), memory_.labels.data(),
            threads_,          partials_.data(), memory_.sums.data()};
  }
  Memory<T, host::Array> memory_;
  int threads_ = 1;
  host::Array<double> partials_;
};

}  // namespace league::softmax_regression
