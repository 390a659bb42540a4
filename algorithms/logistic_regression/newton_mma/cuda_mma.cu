// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/mma_native.hpp"
#include "algorithms/logistic_regression/common/cuda_newton.hpp"
#include "algorithms/logistic_regression/newton_mma/units.hpp"

// One or two warps take a run of rows, from memory to registers, and compute its Hessian by matrix units. Then one
// block per sum adds the partials, and one block takes the step.
namespace league::cuda::logistic_regression {
namespace {

using Unit = blocks::mma::Native<blocks::mma::Element::f64>;

template <class T, int blocks_>
__global__ void __launch_bounds__(max_threads, 1) newton_units(Rows<T> rows, State state, double* partials) {
  extern __shared__ double scratch[];
  if (state.control[is_stopped] != 0) return;
  add_newton_runs<T, Unit, blocks_>(block_group(), rows, state.theta, blockIdx.x, gridDim.x, scratch, partials);
}

template <class T>
class NewtonMma final : public IterativeShard {
 public:
  NewtonMma(const LogisticRegression& problem, const Context& context, const Shard& shard)
      : IterativeShard(context, shard), memory_(*this, problem) {}
  Launch configure(Launch launch) override {
    with_unit_blocks(memory_.features, [&]<int blocks_>() {
      launch_ = resolve_for(*this, launch, unit_team<blocks_>(rows().size()), unit_teams,
                            [](int threads) { return unit_rows<T, Unit, blocks_>(threads); });
      const int threads = launch_.team * launch_.vector;
      bytes_ = unit_scratch_bytes<T, Unit, blocks_>(threads);
      require_scratch(properties(queue()), static_cast<std::size_t>(bytes_), "a block of " + std::to_string(threads));
      check(allow_scratch(reinterpret_cast<const void*>(newton_units<T, blocks_>), bytes_));
    });
    memory_.declare_partials(launch_.league, newton_sums(memory_.features));
    return launch_;
  }
  void begin() const override { begin_solve(memory_); }
  void accumulate() const override {
    const Rows<T> rows = memory_.all_rows();
    with_unit_blocks(rows.features, [&]<int blocks_>() {
      newton_units<T, blocks_>
          <<<static_cast<unsigned>(launch_.league), block_of(launch_), static_cast<std::size_t>(bytes_),
             stream(queue())>>>(rows, memory_.state(), memory_.partials.data());
    });
    check_launch();
    add_partials_of(memory_, launch_.league);
  }
  [[nodiscard]] Buffer sums() const override { return memory_.buffer(); }
  void update() const override { take_newton_step(memory_); }

 private:
  SolveMemory<Array, T> memory_;
  Launch launch_;
  int bytes_ = 0;
};

const RegisterSolve<LogisticRegression> newton_mma{"newton_mma", cuda::model, by_type<NewtonMma>};

}  // namespace
}  // namespace league::cuda::logistic_regression
