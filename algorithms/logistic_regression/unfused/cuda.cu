// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/logistic_regression/unfused/cuda.hpp"

namespace league::cuda::logistic_regression {
namespace {

template <class T>
class Unfused final : public IterativeShard {
 public:
  Unfused(const LogisticRegression& problem, const Context& context, const Shard& shard)
      : IterativeShard(context, shard), memory_(*this, problem) {}
  Launch configure(Launch launch) override { return memory_.choose(launch); }
  void begin() const override { begin_solve(memory_.rows); }
  void accumulate() const override {
    const Rows<T> rows = memory_.rows.all_rows();
    const State state = memory_.rows.state();
    const dim3 block = block_of(memory_.launch);
    logits_of<<<memory_.blocks(), block, 0, stream(queue())>>>(rows, state, memory_.packs());
    check_launch();
    put_terms(memory_, false);
    gradient_of<<<memory_.blocks(), block, memory_.scratch(), stream(queue())>>>(rows, state, memory_.packs(),
                                                                                 memory_.rows.partials.data());
    check_launch();
    finish<T>(memory_, nullptr);
  }
  [[nodiscard]] Buffer sums() const override { return memory_.rows.buffer(); }
  void update() const override { descend_alone(memory_.rows); }

 private:
  UnfusedMemory<T> memory_;
};

const RegisterSolve<LogisticRegression> unfused{"unfused", cuda::model, by_type<Unfused>, {Execution::stream}};

}  // namespace
}  // namespace league::cuda::logistic_regression
