// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/sums_kokkos.hpp"
#include "algorithms/linear_regression/kokkos_part.hpp"
#include "algorithms/linear_regression/resident.hpp"

// One team takes all steps. A lane keeps its rows in registers where they fit, and reads them in each step where not;
// the lanes of a thread reduce, threads meet in scratch memory. Kokkos does not promise that several teams run at the
// same time, so there is one.
namespace league::kokkos::linear_regression {
namespace {

template <class T, int width, int resident>
void take_all_steps(const Exec& exec, Launch launch, const Columns<T>& data, const Rule& rule, const State& state) {
  constexpr int n = terms<width>;
  const int size = blocks::sums_for_all_size<n>(launch), vector = launch.vector;
  const auto policy = policy_of<most_persistent_lanes>(exec, launch, size);
  Kokkos::parallel_for(
      "linear_regression/persistent", policy, KOKKOS_LAMBDA(const Member& team) {
        const Scratch scratch(team.team_scratch(0), static_cast<std::size_t>(size));
        const int first = team.team_rank() * vector, lanes = team.team_size() * vector;
        ResidentRows<T, resident> rows;  // of this lane: code outside of vector ranges runs on every lane
        Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, vector),
                             [&](int lane) { rows.load(data, {0, 1, first + lane, lanes}); });
        OwnTheta<width> theta;
        theta.load(state.theta, data.features);
        for (std::int64_t step = 0; step < rule.steps; ++step) {
          const Line<T, width> line = theta.template line<T>();
          const auto sums =
              blocks::sums_for_all<LaneType<T, resident>, n>(team, vector, scratch.data(), step, [&](int lane) {
                if constexpr (resident > 0)
                  return rows.sums(line);
                else
                  return sums_of(data, line, {0, 1, first + lane, lanes});
              });
          theta.step(rule, sums);
          Kokkos::single(Kokkos::PerTeam(team), [&] { state.loss[step] = rule.loss_scale * sums.values[width + 1]; });
        }
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
    if (launch.league > 1)
      throw Unsupported("league " + std::to_string(launch.league) + ": Kokkos gives no barrier between teams");
    launch.league = 1;
    if (!on_gpu && launch.team == 0) launch.team = limits(queue()).team_times_vector;
    // of one feature, more than registers hold: then a step waits for its rows here too
    const bool many = width == 1 && rows().size() > std::int64_t{most_resident<T>} * most_persistent_lanes;
    launch_ = resolved(launch, many ? most_persistent_lanes : persistent_lanes<width>, most_persistent_lanes, 1);
    require_scratch(launch_, blocks::sums_for_all_size<terms<width>>(launch_));
    return launch_;
  }
  void accumulate() const override {
    queue().submit([steps = kernel(), exec = exec_, launch = launch_, data = rows_.data(), rule = rule_,
                    state = state()] { steps(exec, launch, data, rule, state); });
  }
  void update() const override {}

 private:
  using Steps = void (*)(const Exec&, Launch, const Columns<T>&, const Rule&, const State&);
  [[nodiscard]] Steps kernel() const {
    if constexpr (on_gpu && width == 1)
      if (rows().size() <= std::int64_t{most_resident<T>} * launch_.team * launch_.vector)
        return take_all_steps<T, width, most_resident<T>>;
    return take_all_steps<T, width, 0>;
  }
  DeviceRows<T> rows_;
  Launch launch_;
};

const RegisterWholeSolve<LinearRegression> persistent{"persistent", model, by_width<Persistent>};

}  // namespace
}  // namespace league::kokkos::linear_regression
