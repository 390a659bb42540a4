// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/league_barrier_cuda.hpp"
#include "algorithms/logistic_regression/common/cuda.hpp"

// A thread takes 4 neighbouring rows (2 in f64), issues all loads first, and keeps its own sums. A block adds them
// through shared memory, the last block (ticket) adds those of all and of all shards, and takes the step.
namespace league::cuda::logistic_regression {
namespace {

template <class T, int features, class Shards>
__global__ void __launch_bounds__(default_team<features>, launch_bound(default_teams<features>))
    accumulate_rows(Rows<T> rows, Rule rule, State state, double* partials, unsigned* tickets, double* sums,
                    Shards shards) {
  constexpr int n = gradient_sums(features);
  extern __shared__ double scratch[];
  __shared__ T weights[features + 1];
  const auto team = block_group();
  if (state.control[is_stopped] != 0) {
    if (shards.takes_step && blockIdx.x == 0) descend(team, rule, state, scratch);
    return;
  }
  load_weights(state, rows.features, weights);
  ThreadSum<T> mine[features_per_thread<features> + 2];
  add_tiles<features>(team, rows, state, weights, blockIdx.x, gridDim.x,
                      reinterpret_cast<blocks::Pack<T, 16>*>(scratch), mine);
  double* partial = gridDim.x == 1 ? sums : partials + std::int64_t{blockIdx.x} * n;
  add_team<features>(team, rows, mine, scratch, [&](int i, double sum) { partial[i] = sum; });
  if (gridDim.x > 1 && !add_league(team, gradient_sums(rows.features), blockIdx.x, gridDim.x, n, partials, tickets,
                                   scratch, sums, comes_last))
    return;
  if (!shards.takes_step) return;
  shards.add(team, gradient_sums(rows.features), sums, blocks::CudaAtomics{});
  descend(team, rule, state, scratch);
}

template <class T>
class Fused final : public IterativeShard {
 public:
  Fused(const LogisticRegression& problem, const Context& context, const Shard& shard)
      : IterativeShard(context, shard), memory_(*this, problem) {}
  Launch configure(Launch launch) override {
    with_features(memory_.features, [&]<int features>() {
      constexpr int groups = sharers<features>;
      launch_ = resolve_for(
          *this, launch, default_team<features>, default_teams<features>,
          [](int threads) { return rows_at_once<T> * threads / groups; }, default_team<features>);
      if (launch_.team * launch_.vector % groups != 0)
        throw Unsupported(std::to_string(groups) + " threads share a row of " + std::to_string(memory_.features) +
                          " features: the team size must be a multiple of it");
      memory_.declare_partials(launch_.league, gradient_sums(features));
    });
    return launch_;
  }
  void begin() const override { begin_solve(memory_); }
  void accumulate() const override {
    with_features(memory_.features, [&]<int features>() {
      const int threads = launch_.team * launch_.vector;
      blocks::with_shards(shards_, [&]<class Shards>(const Shards& shards) {
        accumulate_rows<T, features>
            <<<static_cast<unsigned>(launch_.league), block_of(launch_), bytes_of(fused_scratch<features>(threads)),
               stream(queue())>>>(memory_.all_rows(), memory_.rule, memory_.state(), memory_.partials.data(),
                                  memory_.tickets.data(), memory_.sums.data(), shards);
      });
      check_launch();
    });
  }
  [[nodiscard]] Buffer sums() const override { return memory_.buffer(); }
  void update() const override {
    if (!shards_.takes_step) descend_alone(memory_);
  }
  [[nodiscard]] bool can_connect() const override { return true; }
  void connect(const DeviceView& view) override { shards_ = {true, view}; }

 private:
  SolveMemory<Array, T> memory_;
  Launch launch_;
  ShardSums shards_{is_alone()};
};

const RegisterSolve<LogisticRegression> fused{"fused", cuda::model, by_type<Fused>};

}  // namespace
}  // namespace league::cuda::logistic_regression
