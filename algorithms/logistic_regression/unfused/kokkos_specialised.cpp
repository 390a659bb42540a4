// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/logistic_regression/unfused/kokkos_specialised.hpp"

namespace league::kokkos::logistic_regression {
namespace {

template <class T>
void logits_of(const Exec& exec, Launch launch, Rows<T> rows, State state, blocks::Pack<T, 16>* logits) {
  constexpr int max_weights = LogisticRegression::max_features + 1;
  const int threads = launch.team * launch.vector;
  Kokkos::parallel_for(
      "logistic_regression/logits", bounded_policy<1, T>(exec, launch, 0, max_weights),
      KOKKOS_LAMBDA(const Member& member) {
        T* weights = scratch_of<T>(member, max_weights);
        const auto team = team_group(member, threads);
        if (state.control[is_stopped] != 0) return;
        load_weights(team, state, rows.features, max_weights, weights);
        for_packs(rows, team, member.league_rank(), member.league_size(),
                  [&](std::int64_t pack) { logits[pack] = pack_logits(rows, pack, weights); });
      });
}

template <class T>
void gradient_of(const Exec& exec, Launch launch, Rows<T> rows, State state, const blocks::Pack<T, 16>* residual,
                 double* partials) {
  const int threads = launch.team * launch.vector;
  Kokkos::parallel_for(
      "logistic_regression/gradient", bounded_policy(exec, launch, scratch_size(features_per_pass, threads)),
      KOKKOS_LAMBDA(const Member& member) {
        double* scratch = scratch_of<double>(member, scratch_size(features_per_pass, threads));
        const auto team = team_group(member, threads);
        if (state.control[is_stopped] != 0) return;
        double* partial = partials + std::int64_t{member.league_rank()} * gradient_sums(rows.features) + 2;
        for (int d = 0; d < rows.features; d += features_per_pass) {
          ThreadSum<T> mine[features_per_pass];
          for_packs(rows, team, member.league_rank(), member.league_size(),
                    [&](std::int64_t pack) { pack_gradient(rows, pack, d, residual[pack], mine); });
          team_sums<features_per_pass>(
              team, [&](int i) { return mine[i].value(); }, scratch,
              [&](int i, int, double sum) {
                if (d + i < rows.features) partial[d + i] = sum;
              });
        }
      });
}

template <class T>
class Unfused final : public IterativeShard {
 public:
  Unfused(const LogisticRegression& problem, const Context& context, const Shard& shard)
      : IterativeShard(context, shard), exec_(instance(context.runtime, queue())), memory_(*this, problem) {}
  Launch configure(Launch launch) override { return memory_.choose(launch); }
  void begin() const override { begin_solve(exec_, memory_.rows); }
  void accumulate() const override {
    const Rows<T> rows = memory_.rows.all_rows();
    const State state = memory_.rows.state();
    if constexpr (on_gpu) {
      logits_of<T>(exec_, memory_.launch, rows, state, memory_.packs());
      put_terms(exec_, memory_, false);
      gradient_of<T>(exec_, memory_.launch, rows, state, memory_.packs(), memory_.rows.partials.data());
    } else {
      accumulate_on_host(rows, state, memory_.residual.data(), memory_.rows.partials.data());
    }
    finish<T>(exec_, memory_, nullptr);
  }
  [[nodiscard]] Buffer sums() const override { return memory_.rows.buffer(); }
  void update() const override { descend_alone(exec_, memory_.rows); }

 private:
  /// The sums persist between passes: the last pass adds to those of the second.
  void accumulate_on_host(const Rows<T>& rows, const State& state, T* residual, double* partials) const {
    each_worker(queue(), exec_, "logistic_regression/logits", memory_.launch, state, [=](Worker worker) {
      host_logits_of_rows(rows, blocks_of(rows.count, worker.rank, worker.of), state.theta, residual);
    });
    put_terms(exec_, memory_, false);
    const int n = gradient_sums(rows.features);
    each_worker(queue(), exec_, "logistic_regression/gradient", memory_.launch, state, [=](Worker worker) {
      host_gradient_of_rows(rows, blocks_of(rows.count, worker.rank, worker.of), residual, partials + worker.rank * n);
    });
  }
  Exec exec_;
  UnfusedMemory<T> memory_;
};

const RegisterSolve<LogisticRegression> unfused{"unfused", specialised_model, by_type<Unfused>, {Execution::stream}};

}  // namespace
}  // namespace league::kokkos::logistic_regression
