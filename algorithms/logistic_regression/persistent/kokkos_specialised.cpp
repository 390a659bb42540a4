// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/logistic_regression/common/kokkos_specialised.hpp"

#include "algorithms/blocks/league_all_reduce_kokkos.hpp"
#include "algorithms/blocks/league_barrier_kokkos.hpp"
#include "algorithms/logistic_regression/persistent/kernel.hpp"

// One league takes all steps; teams send each other their sums in stamped words, if there are several. All teams must
// be on the device at once: the league is limited to what the launch bounds let in. On a host there is one.
namespace league::kokkos::logistic_regression {
namespace {

using Threads = blocks::NativeSums::Threads;

/// Scratch in doubles: for sums over a team of `threads`, and for what a team keeps.
template <int features>
constexpr int scratch_for_sums(int threads) {
  if constexpr (fits_registers<features>) return blocks::league_sums_size<gradient_sums(features)>(threads);
  return persistent_scratch<features>(threads);
}
template <class T, int features>
inline constexpr int own_scratch =
    fits_registers<features> ? 0 : static_cast<int>(sizeof(OwnSolve<T, features>) / sizeof(double)) + 2;

template <class T, int features>
struct AllSteps {
  Rows<T> rows;
  Rule rule;
  std::int64_t steps;
  State state;
  stamped::Word* board;
  int threads;  ///< of a team, vector lanes included
  int doubles;  ///< scratch for sums

  KOKKOS_FUNCTION void operator()(const Member& member) const {
    const auto team = Threads::of(member, threads);
    const std::int64_t rank = member.league_rank(), teams = member.league_size();
    if constexpr (fits_registers<features>) {
      double* scratch = Threads::template kept_shared<16>(scratch_of<double>(member, doubles));
      take_all_steps_in_registers<T, features>(
          team, rank, teams, rows, rule, steps, state, [&](const RegisterSums<features>& mine, std::int64_t step) {
            return blocks::league_sums_for_all<!on_gpu>(team, rank, teams, mine, scratch, board, step);
          });
    } else {
      auto& own = *scratch_of<OwnSolve<T, features>>(member, 1);
      double* scratch = scratch_of<double>(member, doubles);
      take_all_steps(team, rank, teams, rows, rule, steps, state, board, blocks::KokkosAtomics{}, own, scratch);
    }
  }
};

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
          *this, launch, waiting_team<T, features>(rows().size(), multiprocessors(*this)), waiting_teams<features>,
          [](int threads) { return rows_at_once<T> * threads / groups; }, default_team<features>);
      const int threads = launch_.team * launch_.vector;
      if (threads % groups != 0)
        throw Unsupported(std::to_string(groups) + " threads share a row of " + std::to_string(memory_.features) +
                          " features: the team size must be a multiple of it");
      blocks::NativeSums::require(threads);
      const int doubles = scratch_for_sums<features>(threads) + own_scratch<T, features>;
      const std::size_t bytes = sizeof(double) * static_cast<std::size_t>(doubles) + 32;
      const int held = blocks::teams_at_once(exec_, multiprocessors(*this), default_team<features>,
                                             default_teams<features>, launch_, bytes);
      if (chosen) launch_.league = automatic_league<features>(rows().size(), launch_, held, multiprocessors(*this));
      blocks::require_at_once(launch_, held);
      declare(board_, "logistic_regression/board", board_words<features>(memory_.features, launch_.league));
    });
    return launch_;
  }
  void begin() const override {
    queue().submit([exec = exec_, board = board_.view()] { Kokkos::deep_copy(exec, board, 0); });
  }
  void accumulate() const override {
    with_features(memory_.features, [&]<int features>() {
      const int threads = launch_.team * launch_.vector, doubles = scratch_for_sums<features>(threads);
      submit(queue(), "logistic_regression/persistent",
             bounded_policy<default_teams<features>, double, default_team<features>>(
                 exec_, launch_, doubles + own_scratch<T, features>),
             AllSteps<T, features>{memory_.all_rows(), memory_.rule, steps_, memory_.state(), board_.data(), threads,
                                   doubles});
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

const RegisterWholeSolve<LogisticRegression> persistent{"persistent", specialised_model, by_type<Persistent>};

}  // namespace
}  // namespace league::kokkos::logistic_regression
