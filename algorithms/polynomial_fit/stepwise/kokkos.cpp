// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/polynomial_fit/common/kokkos_points.hpp"
#include "algorithms/polynomial_fit/stepwise/kokkos_graph.hpp"

namespace league::kokkos::polynomial_fit {
namespace {

template <class T>
struct GradientTerms {
  static constexpr int n = sums_per_step;
  using Value = T;
  Cubic<T> cubic;
  KOKKOS_FORCEINLINE_FUNCTION void add(T x, T y, T (&sums)[n]) const { add_point(cubic, x, y, sums); }
};

// A lane adds its packs of points; the last team adds the sums of all teams and takes the step.
template <class T>
struct AddPoints {
  PointViews<T> points;
  int lanes;  ///< of a team
  Rule rule;
  State state;
  bool alone;
  Values<double> partials, sums;
  Values<unsigned> ticket;

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    if (*state.taken >= rule.steps) return;
    const blocks::TeamSums<sums_per_step> adder(team, lanes);
    const std::int64_t first = std::int64_t{team.league_rank()} * lanes;
    const bool last = adder.over_league(
        partials, ticket,
        [&](int lane, double (&mine)[sums_per_step]) {
          PointSums<T, GradientTerms<T>> of_lane;
          of_lane.add_all(points, GradientTerms<T>{Cubic<T>::of(state.theta)}, first + lane,
                          std::int64_t{team.league_size()} * lanes);
          of_lane.leave(mine);
        },
        [&](int i, double sum) { sums(i) = sum; });
    if (!last || !alone) return;
    team.team_barrier();
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, int{sums_per_step}),
                         [&](int i) { take_step(rule, state, sums, i); });
  }
};

template <class T>
class Stepwise final : public PointShard<T, GradientTerms<T>, GraphShard> {
 public:
  using PointShard<T, GradientTerms<T>, GraphShard>::PointShard;
  void accumulate() const override {
    submit(this->queue(), "polynomial_fit/stepwise", this->policy(this->exec_), kernel());
  }
  [[nodiscard]] GraphNode record(const Exec& exec, const GraphNode& after) const override {
    return after.then_parallel_for("polynomial_fit/stepwise", this->policy(exec), kernel());
  }

 private:
  [[nodiscard]] AddPoints<T> kernel() const {
    return {this->points(),   this->lanes(),          this->rule_,        this->state(),
            this->is_alone(), this->partials_.view(), this->sums_.view(), this->ticket_.view()};
  }
};

const Register<PolynomialFit> stepwise{
    "stepwise", once(), prepare_graphs<Stepwise>, {Execution::stream, Execution::graph, Execution::kokkos_graph}};

}  // namespace
}  // namespace league::kokkos::polynomial_fit
