// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/polynomial_fit/common/kokkos_specialised.hpp"

#include "algorithms/polynomial_fit/stepwise/kokkos_graph.hpp"

// A lane takes every lanes-th point, on a host consecutive ones; the last team adds the sums of all and takes the step.
namespace league::kokkos::polynomial_fit::specialised {
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
class Stepwise final : public Specialised<GraphShard> {
 public:
  Stepwise(const PolynomialFit& problem, const Context& context, const Shard& shard)
      : Specialised(problem, context, shard), memory_(*this, problem) {
    declare_zeroed(ticket_, "polynomial_fit/ticket", 1);
  }
  Launch configure(Launch launch) override {
    const int lanes = limits(queue()).vector;
    const Launch automatic = on_gpu ? Launch{0, 256 / lanes, lanes} : Launch{0, 1, 1};
    launch_ = this->template resolved<T>(launch, automatic);
    values_ = blocks::team_sums_size<sums_per_step>(launch_.team * launch_.vector);
    require_scratch(launch_, values_);
    declare(partials_, "polynomial_fit/partials", std::int64_t{launch_.league} * sums_per_step);
    return launch_;
  }
  void accumulate() const override { submit(queue(), "polynomial_fit/accumulate", policy(exec_), kernel()); }
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

const Register<PolynomialFit> stepwise{"stepwise",
                                       several_bodies(specialised_model, true),
                                       prepare_graphs<Stepwise>,
                                       {Execution::stream, Execution::graph, Execution::kokkos_graph}};

}  // namespace
}  // namespace league::kokkos::polynomial_fit::specialised
