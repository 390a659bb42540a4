// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/logistic_regression/common/kokkos_specialised_newton.hpp"
#include "algorithms/logistic_regression/common/newton_rows.hpp"
#include "algorithms/logistic_regression/host/newton.hpp"

// Up to 8 features, a thread takes neighbouring rows and keeps all sums; beyond, a team takes tiles of 64 rows (32 in
// f64), a thread a square of the Hessian. Then one team per sum adds the partials, and one team takes the step. On a
// host a thread takes neighbouring blocks of 512 rows.
namespace league::kokkos::logistic_regression {
namespace {

template <class T, int features>
void newton_rows(const Exec& exec, Launch launch, Rows<T> rows, State state, double* partials) {
  constexpr int n = newton_values<features>;
  const int threads = launch.team * launch.vector;
  const auto policy = bounded_policy<newton_teams<features>, T>(exec, launch, scratch_size(n, threads), features + 1);
  Kokkos::parallel_for(
      "logistic_regression/newton", policy, KOKKOS_LAMBDA(const Member& member) {
        double* scratch = scratch_of<double>(member, scratch_size(n, threads));
        T* weights = scratch_of<T>(member, features + 1);
        const auto team = team_group(member, threads);
        const std::int64_t rank = member.league_rank(), teams = member.league_size();
        if (state.control[is_stopped] != 0) return;
        load_weights(team, state, rows.features, features + 1, weights);
        ThreadSum<T> mine[n];
        const std::int64_t packs = (rows.count + rows_at_once<T> - 1) / rows_at_once<T>;
        const std::int64_t tile = std::int64_t{newton_packs} * team.size;
        for (std::int64_t pack = rank * tile + team.rank; pack < packs; pack += teams * tile)
          add_hessian<T, features>(rows, pack, team.size, weights, mine);
        team_sums<n>(
            team, [&](int i) { return mine[i].value(); }, scratch,
            [&](int i, int, double sum) {
              const int place = newton_place<features>(i, rows.features);
              if (place >= 0) partials[place * teams + rank] = sum;
            });
      });
}

template <class T>
void newton_tiles(const Exec& exec, Launch launch, Rows<T> rows, State state, double* partials) {
  const int threads = launch.team * launch.vector;
  Kokkos::parallel_for(
      "logistic_regression/newton", bounded_policy(exec, launch, tiles_scratch<T>(rows.features, threads)),
      KOKKOS_LAMBDA(const Member& member) {
        double* scratch = scratch_of<double>(member, tiles_scratch<T>(rows.features, threads));
        const auto team = team_group(member, threads);
        if (state.control[is_stopped] != 0) return;
        add_tiles(team, rows, state.theta, member.league_rank(), member.league_size(), scratch, partials);
      });
}

template <class T>
class Newton final : public IterativeShard {
 public:
  Newton(const LogisticRegression& problem, const Context& context, const Shard& shard)
      : IterativeShard(context, shard),
        exec_(instance(context.runtime, queue())),
        memory_(*this, problem),
        in_threads_(!on_gpu || problem.features <= max_features_per_thread) {}
  Launch configure(Launch launch) override {
    launch_ = newton_launch<T>(memory_.features, in_threads_, [&](int teams, const auto& rows) {
      return resolve_for(*this, launch, max_threads, teams, rows);
    });
    if (!in_threads_) groups_ = tile_groups<T>(memory_.features, threads(), "team");
    memory_.declare_partials(partials_per_sum(), newton_sums(memory_.features));
    return launch_;
  }
  void begin() const override { begin_solve(exec_, memory_); }
  void accumulate() const override {
    const Rows<T> rows = memory_.all_rows();
    const State state = memory_.state();
    double* partials = memory_.partials.data();
    const int n = newton_sums(rows.features);
    if constexpr (on_gpu) {
      if (in_threads_)
        with_few_features(rows.features,
                          [&]<int features>() { newton_rows<T, features>(exec_, launch_, rows, state, partials); });
      else
        newton_tiles<T>(exec_, launch_, rows, state, partials);
      add_partials_of(exec_, memory_, partials_per_sum());
    } else {
      host_accumulate(queue(), exec_, "logistic_regression/newton", launch_, state, rows.count, n, partials,
                      [=](Blocks blocks, double* sums) { host_add_newton_rows(rows, blocks, state.theta, sums); });
      host_finish(queue(), exec_, launch_, state, n, partials, memory_.sums.data());
    }
  }
  [[nodiscard]] Buffer sums() const override { return memory_.buffer(); }
  void update() const override { take_newton_step(exec_, memory_); }

 private:
  [[nodiscard]] int threads() const { return launch_.team * launch_.vector; }
  [[nodiscard]] std::int64_t partials_per_sum() const {
    return std::int64_t{launch_.league} * (on_gpu ? groups_ : threads());
  }
  Exec exec_;
  SolveMemory<Array, T> memory_;
  bool in_threads_;
  Launch launch_;
  int groups_ = 1;
};

const RegisterSolve<LogisticRegression> newton{"newton", specialised_model, by_type<Newton>};

}  // namespace
}  // namespace league::kokkos::logistic_regression
