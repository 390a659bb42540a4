// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/league_barrier_kokkos.hpp"
#include "algorithms/logistic_regression/kokkos_shard.hpp"
#include "algorithms/logistic_regression/persistent.hpp"

// One league takes all steps; teams send each other their sums in stamped words, if there are several. All teams must
// be on the device at once: the league is limited to what the launch bounds let in. On a host there is one.
namespace league::kokkos::logistic_regression {
namespace {

template <class T, int features>
constexpr int scratch_doubles(int threads) {
  return fused_scratch<features>(threads) + static_cast<int>(sizeof(OwnSolve<T, features>) / sizeof(double)) + 2;
}

template <class T, int features>
void all_steps(const Exec& exec, Launch launch, const Rows<T>& rows, const Rule& rule, std::int64_t steps,
               const State& state, stamped::Word* board) {
  const int threads = launch.team * launch.vector, doubles = fused_scratch<features>(threads);
  const auto policy = bounded_policy<min_teams<features>, double, max_team<features>>(
      exec, launch, scratch_doubles<T, features>(threads));
  Kokkos::parallel_for(
      "logistic_regression/persistent", policy, KOKKOS_LAMBDA(const Member& member) {
        auto& own = *scratch_of<OwnSolve<T, features>>(member, 1);
        double* scratch = scratch_of<double>(member, doubles);
        take_all_steps(team_group(member, threads), member.league_rank(), member.league_size(), rows, rule, steps,
                       state, board, blocks::KokkosAtomics{}, own, scratch);
      });
}

template <class T>
class Persistent final : public IterativeShard {
 public:
  Persistent(const LogisticRegression& problem, const Context& context, const Shard& shard)
      : IterativeShard(context, shard),
        exec_(instance(context.runtime, queue())),
        memory_(*this, problem),
        steps_(problem.steps) {
    require_alone(context);
  }
  Launch configure(Launch launch) override {
    with_features(memory_.features, [&]<int features>() {
      constexpr int groups = sharers<features>;
      const bool chosen = launch.league == 0;
      if (!on_gpu && launch.team == 0) launch.team = groups;
      launch_ = resolve_for(
          *this, launch, default_team<features>, default_teams<features>,
          [](int threads) { return rows_at_once<T> * threads / groups; }, max_team<features>);
      if (launch_.team * launch_.vector % groups != 0)
        throw Unsupported(std::to_string(groups) + " threads share a row of " + std::to_string(memory_.features) +
                          " features: the team size must be a multiple of it");
      const std::size_t bytes =
          sizeof(double) * static_cast<std::size_t>(scratch_doubles<T, features>(launch_.team * launch_.vector)) + 32;
      const int held =
          blocks::teams_at_once(exec_, multiprocessors(*this), max_team<features>, min_teams<features>, launch_, bytes);
      if (chosen) launch_.league = std::min(launch_.league, held);
      blocks::require_at_once(launch_, held);
      declare(board_, "logistic_regression/board",
              blocks::all_reduce_words(gradient_sums(memory_.features), launch_.league));
    });
    return launch_;
  }
  void begin() const override {
    queue().submit([exec = exec_, board = board_.view()] { Kokkos::deep_copy(exec, board, 0); });
  }
  void accumulate() const override {
    with_features(memory_.features, [&]<int features>() {
      queue().submit([exec = exec_, launch = launch_, rows = memory_.all_rows(), rule = memory_.rule, steps = steps_,
                      state = memory_.state(), board = board_.data()] {
        all_steps<T, features>(exec, launch, rows, rule, steps, state, board);
      });
    });
  }
  [[nodiscard]] Buffer sums() const override { return memory_.buffer(); }
  void update() const override {}

 private:
  Exec exec_;
  SolveMemory<Array, T> memory_;
  const std::int64_t steps_;
  Launch launch_;
  Array<stamped::Word> board_;
};

const RegisterWholeSolve<LogisticRegression> persistent{"persistent", kokkos::model, by_type<Persistent>};

}  // namespace
}  // namespace league::kokkos::logistic_regression
