// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/league_all_reduce_kokkos.hpp"
#include "algorithms/blocks/sums_kokkos.hpp"
#include "algorithms/polynomial_fit/kokkos_graph.hpp"

// A lane takes every lanes-th point; the last team adds the sums of all and takes the step. `persistent`: one league
// takes all steps, its lanes keep their points in registers. `moments`: a lane adds powers of every lanes-th pack, then
// one thread takes all steps on their sums. On a host a thread takes consecutive points.
namespace league::kokkos::polynomial_fit {
namespace {

using blocks::Scratch, blocks::require_scratch, blocks::scratch_bytes;

template <class T>
auto policy_of(const Exec& exec, Launch launch, int scratch_values) {
  Kokkos::TeamPolicy<Exec, Kokkos::IndexType<std::int64_t>, Kokkos::LaunchBounds<max_persistent_lanes, 1>> policy(
      exec, launch.league, launch.team, launch.vector);
  policy.set_scratch_size(0, Kokkos::PerTeam(scratch_bytes(scratch_values)));
  return light(policy);
}

/// A lane's sums over its points.
template <class T>
KOKKOS_INLINE_FUNCTION Sums<double, sums_per_step> sums_of(const Points<T>& points, const Cubic<T>& cubic,
                                                           std::int64_t lane, std::int64_t lanes) {
  if constexpr (on_gpu)
    return lane_sums(points, cubic, lane, lanes);
  else
    return range_sums(points, cubic, piece(points.count, lane, lanes));
}

template <class T>
struct Accumulate {
  Points<T> points;
  int in_team, values;  ///< lanes, and scratch in doubles
  Rule rule;
  State state;
  bool alone;
  double *partials, *sums;
  unsigned* ticket;

  KOKKOS_FUNCTION void operator()(const Member& member) const {
    const auto cubic = Cubic<T>::of(state.theta);
    if (*state.taken >= rule.steps) return;
    const Scratch scratch(member.team_scratch(0), static_cast<std::size_t>(values));
    const auto team = blocks::team_group(member, in_team);
    const auto mine = sums_of(points, cubic, std::int64_t{member.league_rank()} * in_team + team.rank,
                              std::int64_t{member.league_size()} * in_team);
    const auto of_team = blocks::sums_for_all(team, mine, scratch.data());
    if (!blocks::league_sums(member, team, of_team, partials, ticket, sums, scratch.data()) || !alone) return;
    team.barrier();
    for (int i = team.rank; i < sums_per_step; i += team.size) take_step(rule, state, sums, i);
  }
};

template <class T>
class Stepwise final : public GraphShard {
 public:
  Stepwise(const PolynomialFit& problem, const Context& context, const Shard& shard)
      : GraphShard(problem, context, shard), memory_(*this, problem) {
    declare_zeroed(ticket_, "polynomial_fit/ticket", 1);
  }
  Launch configure(Launch launch) override {
    const int lanes = limits(queue()).vector;
    const Launch automatic = on_gpu ? Launch{0, 256 / lanes, lanes} : Launch{0, 1, 1};
    launch_ = resolved<T>(launch, automatic);
    values_ = blocks::team_sums_size<sums_per_step>(launch_.team * launch_.vector);
    require_scratch(launch_, values_);
    declare(partials_, "polynomial_fit/partials", std::int64_t{launch_.league} * sums_per_step);
    return launch_;
  }
  void accumulate() const override { submit(queue(), "polynomial_fit/accumulate", policy(exec_), kernel()); }
  void update() const override {
    if (is_alone()) return;
    submit_positions("polynomial_fit/update", Update{rule_, state(), sums_.data()});
  }
  [[nodiscard]] GraphNode record(const Exec& exec, const GraphNode& after) const override {
    return after.then_parallel_for("polynomial_fit/accumulate", policy(exec), kernel());
  }

 private:
  [[nodiscard]] auto policy(const Exec& exec) const { return policy_of<T>(exec, launch_, values_); }
  [[nodiscard]] Accumulate<T> kernel() const {
    return {memory_.points(), launch_.team * launch_.vector,
            values_,          rule_,
            state(),          is_alone(),
            partials_.data(), sums_.data(),
            ticket_.data()};
  }
  PointMemory<T, Array> memory_;
  Launch launch_;
  int values_ = 0;  ///< of scratch memory
  Array<double> partials_;
  Array<unsigned> ticket_;
};

template <class T, int resident, bool alone>
void take_all_steps(const Exec& exec, Launch launch, const Points<T>& points, const Rule& rule, const State& state,
                    stamped::Word* board) {
  const int in_team = launch.team * launch.vector, size = blocks::team_sums_size<sums_per_step>(in_team);
  Kokkos::parallel_for(
      "polynomial_fit/persistent", policy_of<T>(exec, launch, size), KOKKOS_LAMBDA(const Member& member) {
        const Scratch memory(member.team_scratch(0), static_cast<std::size_t>(size));
        double* scratch = memory.data();
        const auto team = blocks::team_group(member, in_team);  // outside of vector ranges every lane runs
        const std::int64_t rank = member.league_rank(), teams = member.league_size();
        const std::int64_t lane = rank * in_team + team.rank, lanes = teams * in_team;
        ResidentPoints<T, resident> mine;
        mine.load(points, lane, lanes);
        double theta[terms];
        for (int p = 0; p < terms; ++p) theta[p] = state.theta[p];
        for (std::int64_t step = 0; step < rule.steps; ++step) {
          const auto cubic = Cubic<T>::of(theta);
          Sums<LaneType<T, resident>, sums_per_step> of_lane;
          if constexpr (resident > 0)
            of_lane = mine.sums(cubic);
          else
            of_lane = sums_of(points, cubic, lane, lanes);
          const auto sums = blocks::league_sums_for_all<alone>(team, rank, teams, of_lane, scratch, board, step);
          for (int p = 0; p < terms; ++p) theta[p] -= rule.scale * sums.values[p];
          if (lane == 0) state.loss[step] = sums.values[terms];
        }
        if (lane != 0) return;
        for (int p = 0; p < terms; ++p) state.theta[p] = theta[p];
        *state.taken = rule.steps;
      });
}

template <class T>
class Persistent final : public KokkosShard {
 public:
  Persistent(const PolynomialFit& problem, const Context& context, const Shard& shard)
      : KokkosShard(problem, context, shard), memory_(*this, problem) {
    require_alone(context);
  }
  Launch configure(Launch launch) override {
    const bool chosen = launch.league == 0;
    const Launch automatic{0, on_gpu ? 128 : limits(queue()).team_times_vector, 1};
    launch_ = resolved<T>(launch, automatic, 1, max_resident);
    const int values = blocks::team_sums_size<sums_per_step>(launch_.team * launch_.vector);
    require_scratch(launch_, values);
    const int held =
        blocks::teams_at_once(exec_, multiprocessors(*this), max_persistent_lanes, 1, launch_, scratch_bytes(values));
    if (chosen) launch_.league = std::min(launch_.league, held);
    blocks::require_at_once(launch_, held);
    declare(board_, "polynomial_fit/board", blocks::Slots<sums_per_step>::board_words(launch_.league));
    return launch_;
  }
  void begin() const override {
    KokkosShard::begin();
    queue().submit([exec = exec_, board = board_.view()] { Kokkos::deep_copy(exec, board, 0); });
  }
  void accumulate() const override {
    queue().submit([take = kernel(), exec = exec_, launch = launch_, points = memory_.points(), rule = rule_,
                    state = state(), board = board_.data()] { take(exec, launch, points, rule, state, board); });
  }
  void update() const override {}

 private:
  using Steps = void (*)(const Exec&, Launch, const Points<T>&, const Rule&, const State&, stamped::Word*);
  [[nodiscard]] Steps kernel() const {
    if constexpr (on_gpu)
      if (rows().size() <= std::int64_t{max_resident} * launch_.league * launch_.team * launch_.vector)
        return launch_.league == 1 ? take_all_steps<T, max_resident, true> : take_all_steps<T, max_resident, false>;
    return take_all_steps<T, 0, !on_gpu>;
  }
  PointMemory<T, Array> memory_;
  Launch launch_;
  Array<stamped::Word> board_;
};

template <class T>
KOKKOS_INLINE_FUNCTION Sums<double, moment_sums> powers_of(const Points<T>& points, std::int64_t lane,
                                                           std::int64_t lanes) {
  if constexpr (on_gpu)
    return lane_powers(points, lane, lanes);
  else
    return range_powers(points, piece(points.count, lane, lanes));
}

template <class T>
struct AddPowers {
  Points<T> points;
  int in_team, values;  ///< lanes, and scratch in doubles
  double *partials, *sums;
  unsigned* ticket;

  KOKKOS_FUNCTION void operator()(const Member& member) const {
    const Scratch scratch(member.team_scratch(0), static_cast<std::size_t>(values));
    const auto team = blocks::team_group(member, in_team);
    const auto mine = powers_of(points, std::int64_t{member.league_rank()} * in_team + team.rank,
                                std::int64_t{member.league_size()} * in_team);
    const auto of_team = blocks::sums_for_all(team, mine, scratch.data());
    blocks::league_sums(member, team, of_team, partials, ticket, sums, scratch.data());
  }
};
struct Descend {
  Rule rule;
  double points;
  const double* sums;
  State state;
  KOKKOS_FUNCTION void operator()(int) const { descend(rule, points, sums, state); }
};

template <class T>
class Moments final : public KokkosShard {
 public:
  Moments(const PolynomialFit& problem, const Context& context, const Shard& shard)
      : KokkosShard(problem, context, shard, moment_sums), memory_(*this, problem) {
    declare_zeroed(ticket_, "polynomial_fit/ticket", 1);
  }
  Launch configure(Launch launch) override {
    const int lanes = limits(queue()).vector;
    launch_ = resolved<T>(launch, on_gpu ? Launch{0, 256 / lanes, lanes} : Launch{0, 1, 1}, moment_share);
    values_ = blocks::team_sums_size<moment_sums>(launch_.team * launch_.vector);
    require_scratch(launch_, values_);
    declare(partials_, "polynomial_fit/partials", std::int64_t{launch_.league} * moment_sums);
    return launch_;
  }
  void begin() const override {}
  void accumulate() const override {
    submit(queue(), "polynomial_fit/powers", policy_of<T>(exec_, launch_, values_),
           AddPowers<T>{memory_.points(), launch_.team * launch_.vector, values_, partials_.data(), sums_.data(),
                        ticket_.data()});
  }
  void update() const override {
    submit(queue(), "polynomial_fit/moments", light(Kokkos::RangePolicy<Exec>(exec_, 0, 1)),
           Descend{rule_, points_, sums_.data(), state()});
  }

 private:
  PointMemory<T, Array> memory_;
  Launch launch_;
  int values_ = 0;  ///< of scratch memory
  Array<double> partials_;
  Array<unsigned> ticket_;
};

std::unique_ptr<Prepared> prepare_stepwise(const PolynomialFit& problem, const Context& context) {
  const auto make = [&](const Shard& shard) { return by_type<Stepwise, GraphShard>(problem, context, shard); };
  if (context.execution == Execution::kokkos_graph) return std::make_unique<GraphSolve>(context, problem.steps, make);
  return solve(context, problem.steps, make);
}

const Register<PolynomialFit> stepwise{
    "stepwise", model, prepare_stepwise, {Execution::stream, Execution::graph, Execution::kokkos_graph}};
const RegisterWholeSolve<PolynomialFit> persistent{"persistent", model, by_type<Persistent>};
const RegisterWholeSolve<PolynomialFit> moments{"moments", model, by_type<Moments>};

}  // namespace
}  // namespace league::kokkos::polynomial_fit
