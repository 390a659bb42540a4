// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/linear_regression/common/kokkos_specialised.hpp"

#include "algorithms/blocks/league_all_reduce_kokkos.hpp"
#include "algorithms/linear_regression/common/resident.hpp"

// One league takes all steps. A lane keeps its rows in registers where they fit, and reads them in each step where not;
// the sums of a team pass through scratch memory, teams send each other their sums in stamped words, if there are
// several. All teams must be on the device at once: the league is limited to what the launch bounds let in. On a host
// there is one.
namespace league::kokkos::linear_regression::specialised {
namespace {

using Threads = blocks::NativeSums::Threads;

template <class T, int width, int resident, bool alone, bool segmented>
void take_all_steps(const Exec& exec, Launch launch, const Columns<T>& data, const Rule& rule, const State& state,
                    stamped::Word* board) {
  constexpr int n = terms<width>;
  const int lanes = launch.team * launch.vector, size = blocks::league_sums_size<n>(lanes);
  const auto policy = policy_of<max_persistent_lanes, persistent_teams<width>>(exec, launch, scratch_bytes(size));
  Kokkos::parallel_for(
      "linear_regression/persistent", policy, KOKKOS_LAMBDA(const Member& member) {
        const Scratch memory(member.team_scratch(0), static_cast<std::size_t>(size));
        double* scratch = Threads::template kept_shared<alignof(double)>(memory.data());
        const auto team = Threads::of(member, lanes);  // outside of vector ranges every lane runs
        const Place place{member.league_rank(), member.league_size(), team.rank, lanes};
        const bool first = place.team == 0 && place.lane == 0;
        ResidentRows<T, resident> rows;
        rows.load(data, place);
        OwnTheta<width> theta;
        theta.load(state.theta, data.features);
        for (std::int64_t step = 0; step < rule.steps; ++step) {
          const Line<T, width> line = theta.template line<T>();
          Sums<LaneType<T, resident>, n> mine;
          if constexpr (resident > 0)
            mine = rows.sums(line);
          else if constexpr (segmented)
            mine = segment_sums<width>(rule, data.rows, place,
                                       [&](Range some, Place of) { return sums_of(data, line, of, step, some); });
          else
            mine = sums_of(data, line, place, step);
          const auto sums =
              blocks::league_sums_for_all<alone>(team, place.team, place.teams, mine, scratch, board, step);
          theta.step(segmented ? 1 : rule.scale[0], sums.values);
          if (first) state.loss[step] = rule.loss_scale * sums.values[width + 1];
        }
        if (!first) return;
        theta.store(state.theta, data.features);
        *state.taken = rule.steps;
      });
}

/// `segmented`: the problem of `streams`.
template <class T, int width, bool segmented>
class Persistent final : public SpecialisedShard {
 public:
  Persistent(const LinearRegression& problem, const Context& context, const Shard& shard)
      : SpecialisedShard(problem, context, shard, width), rows_(*this, problem) {
    require_alone(context);
  }
  Launch configure(Launch launch) override {
    const bool chosen = launch.league == 0;
    if (!on_gpu && launch.team == 0) launch.team = limits(queue()).team_times_vector;
    if (on_gpu && launch.vector == 0) launch.vector = 1;
    constexpr int rows_per_lane = keeps_rows ? max_resident<T> : 1;
    launch_ = resolved(launch, persistent_lanes<width, keeps_rows>(rows().size()), max_persistent_lanes, rows_per_lane);
    blocks::NativeSums::require(launch_.team * launch_.vector);
    const int values = blocks::league_sums_size<terms<width>>(launch_.team * launch_.vector);
    require_scratch(launch_, values);
    const int held = blocks::teams_at_once(exec_, multiprocessors(*this), max_persistent_lanes, persistent_teams<width>,
                                           launch_, scratch_bytes(values));
    if (chosen)
      launch_.league = automatic_league<width, keeps_rows>(rows().size(), launch_, held, multiprocessors(*this));
    blocks::require_at_once(launch_, held);
    declare(board_, "linear_regression/board", blocks::league_sums_words<terms<width>>(launch_.league));
    return launch_;
  }
  void begin() const override {
    SpecialisedShard::begin();
    queue().submit([exec = exec_, board = board_.view()] { Kokkos::deep_copy(exec, board, 0); });
  }
  void accumulate() const override {
    queue().submit([steps = kernel(), exec = exec_, launch = launch_, data = rows_.here(), rule = rule_,
                    state = state(), board = board_.data()] { steps(exec, launch, data, rule, state, board); });
  }
  void update() const override {}

 private:
  static constexpr bool keeps_rows = width == 1 && !segmented;
  using Steps = void (*)(const Exec&, Launch, const Columns<T>&, const Rule&, const State&, stamped::Word*);
  [[nodiscard]] Steps kernel() const {
    if constexpr (on_gpu && keeps_rows)
      if (rows().size() <= std::int64_t{max_resident<T>} * launch_.league * launch_.team * launch_.vector)
        return launch_.league == 1 ? take_all_steps<T, width, max_resident<T>, true, false>
                                   : take_all_steps<T, width, max_resident<T>, false, false>;
    return take_all_steps<T, width, 0, !on_gpu, segmented>;
  }
  DeviceRows<T> rows_;
  Launch launch_;
  Array<stamped::Word> board_;
};

template <class T, int width>
using Whole = Persistent<T, width, false>;
template <class T, int width>
using Segmented = Persistent<T, width, true>;
const RegisterWholeSolve<LinearRegression> persistent{"persistent", several_bodies(specialised_model, true),
                                                      by_width<Whole>};
const RegisterWholeSolve<LinearRegression> segments{"persistent_segments", several_bodies(specialised_model, true),
                                                    by_width<Segmented>};

}  // namespace
}  // namespace league::kokkos::linear_regression::specialised
