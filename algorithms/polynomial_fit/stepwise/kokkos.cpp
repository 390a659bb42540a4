// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/polynomial_fit/common/kokkos_specialised_persistent.hpp"
#include "algorithms/polynomial_fit/stepwise/kokkos_graph.hpp"

// A lane takes every lanes-th point; the last team adds the sums of all and takes the step. `moments`: a lane adds
// powers of every lanes-th pack, then one thread takes all steps on their sums. On a host a thread takes consecutive
// points.
namespace league::kokkos::polynomial_fit {
namespace {

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
    submit(queue(), "polynomial_fit/moments", one_item(exec_), Descend{rule_, points_, sums_.data(), state()});
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
template <class T>
using PersistentInScratch = Persistent<T, blocks::ScratchSums>;
const RegisterWholeSolve<PolynomialFit> persistent{"persistent", model, by_type<PersistentInScratch>};
const RegisterWholeSolve<PolynomialFit> moments{"moments", model, by_type<Moments>};

}  // namespace
}  // namespace league::kokkos::polynomial_fit
