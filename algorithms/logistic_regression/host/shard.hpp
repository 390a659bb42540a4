// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/logistic_regression/common/newton_step.hpp"
#include "algorithms/logistic_regression/common/shard.hpp"
#include "backends/host_pass.hpp"

namespace league::logistic {

enum class Kernel { fused, unfused, newton };

/// Arguments of host threads in a step.
template <class T>
struct HostWork {
  Rows<T> rows;
  Rule rule;
  State state;
  T* residual;  ///< unfused: [rows]
  int threads;
  double* partials;  ///< [threads x partial_pitch]
  std::span<double> sums;
  double* scratch;

  /// Padded to whole cache lines per thread (no false sharing).
  [[nodiscard]] std::int64_t partial_pitch() const { return (static_cast<std::int64_t>(sums.size()) + 15) / 8 * 8; }
  [[nodiscard]] double* partial(int thread) const { return partials + thread * partial_pitch(); }
  [[nodiscard]] bool stopped() const { return state.control[is_stopped] != 0; }
};

/// A shard on host threads; `add_rows` writes the sums of its rows to `sums`, unless the solve has stopped.
template <class T, class Pass, Kernel kernel, void (*add_rows)(const HostWork<T>&)>
class HostShard final : public IterativeShard {
 public:
  HostShard(const LogisticRegression& problem, const Context& context, const Shard& shard)
      : IterativeShard(context, shard), memory_(*this, problem) {
    declare(residual_, "logistic_regression/residual", kernel == Kernel::unfused ? memory_.pitch : 0);
    declare(
        scratch_, "logistic_regression/scratch",
        kernel == Kernel::newton ? newton_scratch<host_solve_side>(problem.features) : look_scratch(problem.features));
  }
  Launch configure(Launch launch) override {
    launch = Pass::resolve(queue(), launch, {}, rows().size());
    threads_ = launch.league;
    declare(memory_.partials, "logistic_regression/partials", threads_ * work().partial_pitch());
    return launch;
  }
  void begin() const override {
    queue().submit([work = work()] { begin_state(blocks::one_thread, work.rows.features, work.state); });
  }
  void accumulate() const override {
    queue().submit([work = work()] {
      if (!work.stopped()) add_rows(work);
    });
  }
  [[nodiscard]] Buffer sums() const override { return memory_.buffer(); }
  void update() const override {
    queue().submit([work = work()] {
      if constexpr (kernel == Kernel::newton)
        newton_step<host_solve_side>(blocks::one_thread, work.rule, work.state, work.scratch);
      else
        descend(blocks::one_thread, work.rule, work.state, work.scratch);
    });
  }

 private:
  [[nodiscard]] HostWork<T> work() const {
    const int sums = kernel == Kernel::newton ? newton_sums(memory_.features) : gradient_sums(memory_.features);
    return {memory_.all_rows(),
            memory_.rule,
            memory_.state(),
            residual_.data(),
            threads_,
            memory_.partials.data(),
            {memory_.sums.data(), static_cast<std::size_t>(sums)},
            scratch_.data()};
  }
  SolveMemory<host::Array, T> memory_;
  int threads_ = 1;
  host::Array<T> residual_;
  host::Array<double> scratch_;
};

}  // namespace league::logistic
