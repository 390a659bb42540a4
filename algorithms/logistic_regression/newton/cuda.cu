// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/logistic_regression/common/cuda_newton.hpp"
#include "algorithms/logistic_regression/common/newton_rows.hpp"

// Up to 8 features, a thread takes neighbouring rows and keeps all sums; beyond, a block takes tiles of 64 rows (32 in
// f64), a thread a square of the Hessian. Then one block per sum adds the partials, and one block takes the step.
namespace league::cuda::logistic_regression {
namespace {

template <class T, int features>
__global__ void __launch_bounds__(max_threads, launch_bound(newton_teams<features>))
    newton_rows(Rows<T> rows, State state, double* partials) {
  constexpr int n = newton_values<features>;
  extern __shared__ double scratch[];
  __shared__ T weights[features + 1];
  const auto team = block_group();
  if (state.control[is_stopped] != 0) return;
  load_weights(state, rows.features, weights);
  ThreadSum<T> mine[n];
  const std::int64_t packs = (rows.count + rows_at_once<T> - 1) / rows_at_once<T>;
  const std::int64_t tile = std::int64_t{newton_packs} * team.size;
  for (std::int64_t pack = blockIdx.x * tile + team.rank; pack < packs; pack += gridDim.x * tile)
    add_hessian<T, features>(rows, pack, team.size, weights, mine);
  team_sums<n>(
      team, [&](int i) { return mine[i].value(); }, scratch,
      [&](int i, int, double sum) {
        const int place = newton_place<features>(i, rows.features);
        if (place >= 0) partials[std::int64_t{place} * gridDim.x + blockIdx.x] = sum;
      });
}

template <class T>
__global__ void __launch_bounds__(max_threads, 1) newton_tiles(Rows<T> rows, State state, double* partials) {
  extern __shared__ double scratch[];
  if (state.control[is_stopped] != 0) return;
  add_tiles(block_group(), rows, state.theta, blockIdx.x, gridDim.x, scratch, partials);
}

template <class T>
class Newton final : public IterativeShard {
 public:
  Newton(const LogisticRegression& problem, const Context& context, const Shard& shard)
      : IterativeShard(context, shard),
        memory_(*this, problem),
        in_threads_(problem.features <= max_features_per_thread) {}
  Launch configure(Launch launch) override {
    launch_ = newton_launch<T>(memory_.features, in_threads_, [&](int teams, const auto& rows) {
      return resolve_for(*this, launch, max_threads, teams, rows);
    });
    if (!in_threads_) groups_ = tile_groups<T>(memory_.features, threads(), "block");
    memory_.declare_partials(partials_per_sum(), newton_sums(memory_.features));
    return launch_;
  }
  void begin() const override { begin_solve(memory_); }
  void accumulate() const override {
    const cudaStream_t on = stream(queue());
    const auto league = static_cast<unsigned>(launch_.league);
    const Rows<T> rows = memory_.all_rows();
    double* partials = memory_.partials.data();
    if (in_threads_)
      with_few_features(rows.features, [&]<int features>() {
        newton_rows<T, features>
            <<<league, block_of(launch_), bytes_of(scratch_size(newton_values<features>, threads())), on>>>(
                rows, memory_.state(), partials);
      });
    else
      newton_tiles<<<league, block_of(launch_), bytes_of(tiles_scratch<T>(rows.features, threads())), on>>>(
          rows, memory_.state(), partials);
    check_launch();
    add_partials_of(memory_, partials_per_sum());
  }
  [[nodiscard]] Buffer sums() const override { return memory_.buffer(); }
  void update() const override { take_newton_step(memory_); }

 private:
  [[nodiscard]] int threads() const { return launch_.team * launch_.vector; }
  [[nodiscard]] std::int64_t partials_per_sum() const { return std::int64_t{launch_.league} * groups_; }
  SolveMemory<Array, T> memory_;
  bool in_threads_;
  Launch launch_;
  int groups_ = 1;
};

const RegisterSolve<LogisticRegression> newton{"newton", cuda::model, by_type<Newton>};

}  // namespace
}  // namespace league::cuda::logistic_regression
