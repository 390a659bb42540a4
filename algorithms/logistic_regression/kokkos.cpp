// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/logistic_regression/kokkos_part.hpp"

// A thread takes 4 neighbouring rows (2 in f64), all its loads first, and keeps sums of its own;
// a team adds them through its scratch, the last team those of all, and where no other shard waits, makes the step too.
// On a host a thread takes neighbouring blocks of 512 rows, feature by feature.
namespace league::kokkos::logistic_regression {
namespace {

template <class T, int features>
void accumulate_rows(const Exec& exec, Launch launch, Rows<T> rows, Rule rule, State state, double* partials,
                     unsigned* tickets, double* sums, bool alone) {
  constexpr int taken = features_a_thread<features>, groups = sharers<features>, n = gradient_sums(features);
  const int threads = launch.team * launch.vector;
  const auto policy =
      bounded_policy<teams_at_least<features>, T>(exec, launch, fused_scratch<features>(threads), features + 1);
  const int doubles = fused_scratch<features>(threads);
  Kokkos::parallel_for(
      "logistic_regression/fused", policy, KOKKOS_LAMBDA(const Member& member) {
        double* scratch = scratch_of<double>(member, doubles);
        T* weights = scratch_of<T>(member, features + 1);
        const auto team = team_lanes(member, threads);
        const std::int64_t rank = member.league_rank(), teams = member.league_size();
        if (state.control[is_stopped] != 0) {
          if (alone && rank == 0) descend(team, rule, state, scratch);
          return;
        }
        load_weights(team, state, rows.features, features + 1, weights);
        const int places = team.count / groups, group = team.lane / places, place = team.lane % places;
        auto* board =
            reinterpret_cast<blocks::Pack<T, 16>*>(scratch);  // [2][groups][places]: logits that threads share
        int turn = 0;
        ThreadSum<T> mine[taken + 2];
        const std::int64_t packs = (rows.count + rows_at_once<T> - 1) / rows_at_once<T>;
        for (std::int64_t first = rank * places; first < packs; first += teams * places) {
          const Neighbours<T, taken> neighbours(rows, first + place, group * taken);
          blocks::Pack<T, 16> z = neighbours.logits(weights + 1 + group * taken);
          if constexpr (groups > 1) {
            board[turn + team.lane] = z;
            member.team_barrier();
            z = board[turn + place];
            for (int other = 1; other < groups; ++other) z = z + board[turn + other * places + place];
            turn = team.count - turn;
          }
          add_gradient(neighbours, z, weights[0], group == 0, mine);
        }
        const int sums_of_data = gradient_sums(rows.features);
        double* partial = teams == 1 ? sums : partials + rank * n;
        team_sums<taken + 2, groups>(
            team, [&](int i) { return mine[i].value(); }, scratch,
            [&](int i, int of, double sum) {
              const int at = i < 2 ? i : of * taken + i;
              if (at < sums_of_data && (i >= 2 || of == 0)) partial[at] = sum;
            });
        member.team_barrier();
        const auto is_last = [&](unsigned* ticket, unsigned count) { return comes_last(member, ticket, count); };
        if (teams > 1 && !add_league(team, sums_of_data, rank, teams, n, partials, tickets, scratch, sums, is_last))
          return;
        if (alone) descend(team, rule, state, scratch);
      });
}

template <class T>
class Fused final : public PortablePart<T> {
 public:
  Fused(const LogisticRegression& problem, const Context& context, const Shard& shard)
      : PortablePart<T>(problem, context, shard) {}
  Launch configure(Launch launch) override {
    with_features(this->features_, [&]<int features>() {
      constexpr int groups = sharers<features>;
      launch_ = this->resolve_for(launch, standard_team<features>, standard_teams<features>,
                                  [](int threads) { return rows_at_once<T> * threads / groups; });
      if (on_gpu && launch_.team * launch_.vector % groups != 0)
        throw Unsupported(std::to_string(groups) + " threads share a row of " + std::to_string(this->features_) +
                          " features: a team takes a multiple of them");
      if (on_gpu)
        this->make_partials(launch_.league, gradient_sums(features));
      else
        this->make_partials(std::int64_t{launch_.league} * launch_.team, gradient_sums(this->features_));
    });
    return launch_;
  }
  void accumulate() override {
    if constexpr (on_gpu)
      with_features(this->features_, [&]<int features>() {
        accumulate_rows<T, features>(this->exec_, launch_, this->all_rows(), this->rule_, this->state(),
                                     this->partials_.data(), this->tickets_.data(), this->sums_.data(), this->alone_);
      });
    else
      accumulate_on_host();
  }
  void update() override {
    if (!on_gpu || !this->alone_) this->descend_alone();
  }

 private:
  void accumulate_on_host() {
    const Rows<T> rows = this->all_rows();
    const State state = this->state();
    const int n = gradient_sums(this->features_);
    host_accumulate(
        this->exec_, "logistic_regression/fused", launch_, state, rows.count, n, this->partials_.data(),
        [=](Blocks blocks, double* sums) { host_add_rows(rows, blocks, state.theta, sums, host_add_block<T>); });
    host_finish(this->exec_, launch_, state, n, this->partials_.data(), this->sums_.data());
  }
  Launch launch_;
};

template <Execution execution>
std::unique_ptr<Prepared> prepare(const LogisticRegression& problem, const Context& context) {
  return with_type<float, double>(
      problem.dtype, [&]<class T>() { return solve<Fused<T>>(problem, context, problem.steps, execution); });
}

const Register<LogisticRegression> fused{"fused", kokkos::model, prepare<Execution::stepwise>};
const Register<LogisticRegression> graph{"graph", kokkos::model, prepare<Execution::graph>};

}  // namespace
}  // namespace league::kokkos::logistic_regression
