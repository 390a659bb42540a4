// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/logistic_regression/cuda_part.hpp"
#include "algorithms/logistic_regression/newton_rows.hpp"

// Up to 8 features a thread takes neighbouring rows and keeps all sums of its own; beyond, a block takes tiles of 64
// rows (32 in f64), a thread a square of the Hessian. Then a block a sum adds those of all blocks, and one block makes
// the step.
namespace league::cuda::logistic_regression {
namespace {

template <class T, int features>
__global__ void __launch_bounds__(most_threads, 1) newton_rows(Rows<T> rows, State state, double* partials) {
  constexpr int n = newton_values<features>;
  extern __shared__ double scratch[];
  __shared__ T weights[features + 1];
  const auto team = block_lanes();
  if (state.control[is_stopped] != 0) return;
  load_weights(state, rows.features, weights);
  ThreadSum<T> mine[n];
  const std::int64_t packs = (rows.count + rows_at_once<T> - 1) / rows_at_once<T>;
  for (std::int64_t pack = std::int64_t{blockIdx.x} * team.count + team.lane; pack < packs;
       pack += std::int64_t{gridDim.x} * team.count)
    add_hessian(Neighbours<T, features>(rows, pack, 0), weights, mine);
  team_sums<n>(
      team, [&](int i) { return mine[i].value(); }, scratch,
      [&](int i, int, double sum) {
        const int place = newton_place<features>(i, rows.features);
        if (place >= 0) partials[std::int64_t{place} * gridDim.x + blockIdx.x] = sum;
      });
}

template <class T>
__global__ void __launch_bounds__(most_threads, 1) newton_tiles(Rows<T> rows, State state, double* partials) {
  extern __shared__ double scratch[];
  if (state.control[is_stopped] != 0) return;
  add_tiles(block_lanes(), rows, state.theta, blockIdx.x, gridDim.x, scratch, partials);
}

/// A block adds `count` neighbours.
__global__ void add_rows_of(State state, std::int64_t count, const double* partials, double* sums) {
  extern __shared__ double scratch[];
  const auto team = block_lanes();
  if (state.control[is_stopped] != 0) return;
  double mine = 0;
  for (std::int64_t i = team.lane; i < count; i += team.count) mine += partials[blockIdx.x * count + i];
  team_sums<1>(team, [&](int) { return mine; }, scratch, [&](int, int, double sum) { sums[blockIdx.x] = sum; });
}

__global__ void newton_once(Rule rule, State state) {
  extern __shared__ double scratch[];
  newton_step(block_lanes(), rule, state, scratch);
}

template <class T>
class Newton final : public CudaPart<T> {
 public:
  Newton(const LogisticRegression& problem, const Context& context, const Shard& shard)
      : CudaPart<T>(problem, context, shard) {}
  Launch configure(Launch launch) override {
    if (in_threads()) {
      launch_ = this->resolve_for(launch, most_threads, 1, [](int all) { return rows_at_once<T> * all; });
    } else {
      launch_ = this->resolve_for(launch, most_threads, 2, [](int) { return Tile<T>::rows; });
      if (threads() < Tile<T>::threads(this->features_))
        throw Unsupported("newton with " + std::to_string(this->features_) + " features takes " +
                          std::to_string(Tile<T>::threads(this->features_)) + " threads of a block together, not " +
                          std::to_string(threads()));
      groups_ = Tile<T>::groups(this->features_, threads());
    }
    this->make_partials(partials_a_sum(), newton_sums(this->features_));
    return launch_;
  }
  void accumulate() override {
    const cudaStream_t on = stream(this->queue());
    const auto league = static_cast<unsigned>(launch_.league);
    if (in_threads())
      with_few_features([&]<int features>() {
        newton_rows<T, features>
            <<<league, block_of(launch_), bytes_of(scratch_size(newton_values<features>, threads())), on>>>(
                this->all_rows(), this->state(), this->partials_.data());
      });
    else
      newton_tiles<<<league, block_of(launch_), bytes_of(tiles_scratch<T>(this->features_, threads())), on>>>(
          this->all_rows(), this->state(), this->partials_.data());
    check_launch();
    add_rows_of<<<static_cast<unsigned>(newton_sums(this->features_)), this->small,
                  bytes_of(scratch_size(1, this->small)), on>>>(this->state(), partials_a_sum(), this->partials_.data(),
                                                                this->sums_.data());
    check_launch();
  }
  void update() override {
    newton_once<<<1, most_threads, bytes_of(newton_scratch(this->features_)), stream(this->queue())>>>(this->rule_,
                                                                                                       this->state());
    check_launch();
  }

 private:
  [[nodiscard]] bool in_threads() const { return this->features_ <= most_features_a_thread; }
  [[nodiscard]] int threads() const { return launch_.team * launch_.vector; }
  [[nodiscard]] std::int64_t partials_a_sum() const { return std::int64_t{launch_.league} * groups_; }
  template <class Body>
  void with_few_features(const Body& body) {
    if (this->features_ <= 4) return body.template operator()<4>();
    body.template operator()<8>();
  }
  Launch launch_;
  int groups_ = 1;
};

std::unique_ptr<Prepared> prepare(const LogisticRegression& problem, const Context& context) {
  return with_type<float, double>(
      problem.dtype, [&]<class T>() { return solve<Newton<T>>(problem, context, problem.steps, Execution::stepwise); });
}

const Register<LogisticRegression> newton{"newton", cuda::model, prepare};

}  // namespace
}  // namespace league::cuda::logistic_regression
