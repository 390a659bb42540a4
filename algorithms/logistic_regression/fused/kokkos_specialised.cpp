// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/logistic_regression/common/kokkos_specialised.hpp"

#include "algorithms/blocks/league_barrier_kokkos.hpp"

// A thread takes 4 neighbouring rows (2 in f64), issues all loads first, and keeps its own sums. A team adds them
// through its scratch, the last team (ticket) adds those of all and of all shards, and takes the step. On a host
// a thread takes neighbouring blocks of 512 rows, feature by feature.
namespace league::kokkos::logistic_regression {
namespace {

template <class T, int features, class Shards>
void accumulate_rows(const Exec& exec, Launch launch, Rows<T> rows, Rule rule, State state, double* partials,
                     unsigned* tickets, double* sums, Shards shards) {
  constexpr int n = gradient_sums(features);
  const int threads = launch.team * launch.vector;
  const auto policy = bounded_policy<default_teams<features>, T, default_team<features>>(
      exec, launch, fused_scratch<features>(threads), features + 1);
  const int doubles = fused_scratch<features>(threads);
  Kokkos::parallel_for(
      "logistic_regression/fused", policy, KOKKOS_LAMBDA(const Member& member) {
        double* scratch = scratch_of<double>(member, doubles);
        T* weights = scratch_of<T>(member, features + 1);
        const auto team = team_group(member, threads);
        const std::int64_t rank = member.league_rank(), teams = member.league_size();
        if (state.control[is_stopped] != 0) {
          if (shards.takes_step && rank == 0) descend(team, rule, state, scratch);
          return;
        }
        load_weights(team, state, rows.features, features + 1, weights);
        ThreadSum<T> mine[features_per_thread<features> + 2];
        add_tiles<features>(team, rows, state, weights, rank, teams, reinterpret_cast<blocks::Pack<T, 16>*>(scratch),
                            mine);
        double* partial = teams == 1 ? sums : partials + rank * n;
        add_team<features>(team, rows, mine, scratch, [&](int i, double sum) { partial[i] = sum; });
        const auto is_last = [&](unsigned* ticket, unsigned count) { return comes_last(member, ticket, count); };
        if (teams > 1 &&
            !add_league(team, gradient_sums(rows.features), rank, teams, n, partials, tickets, scratch, sums, is_last))
          return;
        if (!shards.takes_step) return;
        shards.add(team, gradient_sums(rows.features), sums, blocks::KokkosAtomics{});
        descend(team, rule, state, scratch);
      });
}

template <class T>
class Fused final : public IterativeShard {
 public:
  Fused(const LogisticRegression& problem, const Context& context, const Shard& shard)
      : IterativeShard(context, shard), exec_(instance(context.runtime, queue())), memory_(*this, problem) {}
  Launch configure(Launch launch) override {
    with_features(memory_.features, [&]<int features>() {
      constexpr int groups = sharers<features>;
      launch_ = resolve_for(
          *this, launch, default_team<features>, default_teams<features>,
          [](int threads) { return rows_at_once<T> * threads / groups; }, default_team<features>);
      if (on_gpu && launch_.team * launch_.vector % groups != 0)
        throw Unsupported(std::to_string(groups) + " threads share a row of " + std::to_string(memory_.features) +
                          " features: the team size must be a multiple of it");
      if (on_gpu)
        memory_.declare_partials(launch_.league, gradient_sums(features));
      else
        memory_.declare_partials(std::int64_t{launch_.league} * launch_.team, gradient_sums(memory_.features));
    });
    return launch_;
  }
  void begin() const override { begin_solve(exec_, memory_); }
  void accumulate() const override {
    if constexpr (on_gpu)
      with_features(memory_.features, [&]<int features>() {
        blocks::with_shards(shards_, [&]<class Shards>(const Shards& shards) {
          accumulate_rows<T, features>(exec_, launch_, memory_.all_rows(), memory_.rule, memory_.state(),
                                       memory_.partials.data(), memory_.tickets.data(), memory_.sums.data(), shards);
        });
      });
    else
      accumulate_on_host();
  }
  [[nodiscard]] Buffer sums() const override { return memory_.buffer(); }
  void update() const override {
    if (!on_gpu || !shards_.takes_step) descend_alone(exec_, memory_);
  }
  [[nodiscard]] bool can_connect() const override { return on_gpu; }
  void connect(const DeviceView& view) override { shards_ = {true, view}; }

 private:
  void accumulate_on_host() const {
    const Rows<T> rows = memory_.all_rows();
    const State state = memory_.state();
    const int n = gradient_sums(rows.features);
    double* partials = memory_.partials.data();
    host_accumulate(queue(), exec_, "logistic_regression/fused", launch_, state, rows.count, n, partials,
                    [=](Blocks blocks, double* sums) { host_add_rows(rows, blocks, state.theta, sums); });
    host_finish(queue(), exec_, launch_, state, n, partials, memory_.sums.data());
  }
  Exec exec_;
  SolveMemory<Array, T> memory_;
  Launch launch_;
  ShardSums shards_{is_alone()};
};

const RegisterSolve<LogisticRegression> fused{"fused", several_bodies(specialised_model, true), by_type<Fused>};

}  // namespace
}  // namespace league::kokkos::logistic_regression
