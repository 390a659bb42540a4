// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/league_all_reduce_kokkos.hpp"
#include "algorithms/blocks/league_barrier_kokkos.hpp"
#include "algorithms/blocks/sums_kokkos.hpp"
#include "algorithms/linear_regression/kokkos_part.hpp"
#include "algorithms/linear_regression/resident.hpp"

// One league takes all steps. A lane keeps its rows in registers where they fit, and reads them in each step where not;
// the lanes of a thread reduce, threads meet in scratch memory, teams send each other their sums in stamped words. All
// teams must be on the device at once: the league is limited to what the launch bounds let in. On a host there is one.
namespace league::kokkos::linear_regression {
namespace {

/// Scratch memory of a team, in values: of the league's sums, and of the threads'.
template <int n>
int scratch_values(Launch launch) {
  return 2 * n + blocks::sums_for_all_size<n>(launch);
}

template <class T, int width, int resident>
void take_all_steps(const Exec& exec, Launch launch, const Columns<T>& data, const Rule& rule, const State& state,
                    stamped::Word* board) {
  constexpr int n = terms<width>;
  const int size = scratch_values<n>(launch), vector = launch.vector;
  const auto policy = policy_of<most_persistent_lanes>(exec, launch, size);
  Kokkos::parallel_for(
      "linear_regression/persistent", policy, KOKKOS_LAMBDA(const Member& team) {
        const Scratch scratch(team.team_scratch(0), static_cast<std::size_t>(size));
        double *totals = scratch.data(), *of_threads = totals + 2 * n;
        const int first = team.team_rank() * vector, lanes = team.team_size() * vector;
        const std::int64_t rank = team.league_rank(), teams = team.league_size();
        ResidentRows<T, resident> rows;  // of this lane: code outside of vector ranges runs on every lane
        Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, vector),
                             [&](int lane) { rows.load(data, {rank, teams, first + lane, lanes}); });
        OwnTheta<width> theta;
        theta.load(state.theta, data.features);
        for (std::int64_t step = 0; step < rule.steps; ++step) {
          const Line<T, width> line = theta.template line<T>();
          auto sums = blocks::sums_for_all<LaneType<T, resident>, n>(team, vector, of_threads, step, [&](int lane) {
            if constexpr (resident > 0)
              return rows.sums(line);
            else
              return sums_of(data, line, {rank, teams, first + lane, lanes});
          });
          if (teams > 1) sums = blocks::league_all_reduce(team, vector, sums, board, totals, step);
          theta.step(rule, sums);
          if (rank == 0)
            Kokkos::single(Kokkos::PerTeam(team), [&] { state.loss[step] = rule.loss_scale * sums.values[width + 1]; });
        }
        if (rank > 0) return;
        Kokkos::single(Kokkos::PerTeam(team), [&] {
          theta.store(state.theta, data.features);
          *state.taken = rule.steps;
        });
      });
}

template <class T, int width>
class Persistent final : public KokkosPart {
 public:
  Persistent(const LinearRegression& problem, const Context& context, const Shard& shard)
      : KokkosPart(problem, context, shard, width), rows_(*this, problem) {
    require_alone(context);
  }
  Launch configure(Launch launch) override {
    const bool chosen = launch.league == 0;
    if (!on_gpu && launch.team == 0) launch.team = limits(queue()).team_times_vector;
    constexpr int rows_a_lane = width == 1 ? most_resident<T> : 1;
    launch_ = resolved(launch, persistent_lanes<width>, most_persistent_lanes, rows_a_lane);
    const int values = scratch_values<terms<width>>(launch_);
    require_scratch(launch_, values);
    const int held =
        blocks::teams_at_once(exec_, multiprocessors(*this), most_persistent_lanes, 1, launch_, scratch_bytes(values));
    if (chosen) launch_.league = std::min(launch_.league, held);
    blocks::require_at_once(launch_, held);
    declare(board_, "linear_regression/board", blocks::Slots<terms<width>>::board_words(launch_.league));
    return launch_;
  }
  void begin() const override {
    KokkosPart::begin();
    queue().submit([exec = exec_, board = board_.view()] { Kokkos::deep_copy(exec, board, 0); });
  }
  void accumulate() const override {
    queue().submit([steps = kernel(), exec = exec_, launch = launch_, data = rows_.data(), rule = rule_,
                    state = state(), board = board_.data()] { steps(exec, launch, data, rule, state, board); });
  }
  void update() const override {}

 private:
  using Steps = void (*)(const Exec&, Launch, const Columns<T>&, const Rule&, const State&, stamped::Word*);
  [[nodiscard]] Steps kernel() const {
    if constexpr (on_gpu && width == 1)
      if (rows().size() <= std::int64_t{most_resident<T>} * launch_.league * launch_.team * launch_.vector)
        return take_all_steps<T, width, most_resident<T>>;
    return take_all_steps<T, width, 0>;
  }
  DeviceRows<T> rows_;
  Launch launch_;
  Array<stamped::Word> board_;
};

const RegisterWholeSolve<LinearRegression> persistent{"persistent", model, by_width<Persistent>};

}  // namespace
}  // namespace league::kokkos::linear_regression
