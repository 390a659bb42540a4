// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/league_all_reduce_cuda.hpp"
#include "algorithms/blocks/league_barrier_cuda.hpp"
#include "algorithms/logistic_regression/common/cuda.hpp"
#include "algorithms/logistic_regression/persistent/kernel.hpp"

// One grid takes all steps; blocks send each other their sums in stamped words, if there are several. All blocks must
// be on the device at once: the league is limited to what fits.
namespace league::cuda::logistic_regression {
namespace {

template <class T, int features>
__global__ void __launch_bounds__(default_team<features>, launch_bound(default_teams<features>))
    all_steps(Rows<T> rows, Rule rule, std::int64_t steps, State state, stamped::Word* board) {
  extern __shared__ double scratch[];
  if constexpr (fits_registers<features>) {
    const auto sum_all = [=](const RegisterSums<features>& mine, std::int64_t step) {
      return blocks::league_sums_for_all<false>(mine, scratch, board, step);
    };
    take_all_steps_in_registers<T, features>(block_group(), blockIdx.x, gridDim.x, rows, rule, steps, state, sum_all);
  } else {
    __shared__ OwnSolve<T, features> own;
    take_all_steps(block_group(), blockIdx.x, gridDim.x, rows, rule, steps, state, board, blocks::CudaAtomics{}, own,
                   scratch);
  }
}

/// Dynamic shared memory in doubles. @throws Unsupported if sums in registers take whole warps, and these are not
template <int features>
int scratch_doubles(Launch launch) {
  if constexpr (!fits_registers<features>) return persistent_scratch<features>(launch.team * launch.vector);
  blocks::require_whole_subgroups(std::int64_t{launch.team} * launch.vector, warp_size);
  return blocks::league_sums_size<gradient_sums(features)>(launch);
}

template <class T>
class Persistent final : public IterativeShard {
 public:
  Persistent(const LogisticRegression& problem, const Context& context, const Shard& shard)
      : IterativeShard(context, shard), memory_(*this, problem), steps_(problem.steps) {
    require_alone(context);
  }
  Launch configure(Launch launch) override {
    with_features(memory_.features, [&]<int features>() {
      constexpr int groups = sharers<features>;
      const bool chosen = launch.league == 0;
      launch_ = resolve_for(
          *this, launch, waiting_team<T, features>(rows().size(), multiprocessors(*this)), waiting_teams<features>,
          [](int threads) { return rows_at_once<T> * threads / groups; }, default_team<features>);
      if (launch_.team * launch_.vector % groups != 0)
        throw Unsupported(std::to_string(groups) + " threads share a row of " + std::to_string(memory_.features) +
                          " features: the team size must be a multiple of it");
      bytes_ = bytes_of(scratch_doubles<features>(launch_));
      const int held = blocks::blocks_at_once(queue(), launch_, bytes_, all_steps<T, features>);
      if (chosen) launch_.league = automatic_league<features>(rows().size(), launch_, held, multiprocessors(*this));
      blocks::require_at_once(launch_, held);
      declare(board_, "logistic_regression/board", board_words<features>(memory_.features, launch_.league));
    });
    return launch_;
  }
  void begin() const override { board_.clear(); }
  void accumulate() const override {
    with_features(memory_.features, [&]<int features>() {
      all_steps<T, features><<<static_cast<unsigned>(launch_.league), block_of(launch_), bytes_, stream(queue())>>>(
          memory_.all_rows(), memory_.rule, steps_, memory_.state(), board_.data());
      check_launch();
    });
  }
  [[nodiscard]] Buffer sums() const override { return memory_.buffer(); }
  void update() const override {}

 private:
  SolveMemory<Array, T> memory_;
  const std::int64_t steps_;
  Launch launch_;
  std::size_t bytes_ = 0;
  Array<stamped::Word> board_;
};

const RegisterWholeSolve<LogisticRegression> persistent{"persistent", cuda::model, by_type<Persistent>};

}  // namespace
}  // namespace league::cuda::logistic_regression
