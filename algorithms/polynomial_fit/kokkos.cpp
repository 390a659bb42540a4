// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/kokkos/kokkos.hpp"

#include "algorithms/blocks/sums_kokkos.hpp"
#include "algorithms/polynomial_fit/kokkos_graph.hpp"
#include "algorithms/polynomial_fit/part.hpp"

// A lane takes every lanes-th point; the last team adds the sums of all and takes the step. `persistent`: one team
// takes all steps, its lanes keep their points in registers. On a host a thread takes consecutive points.
namespace league::kokkos::polynomial_fit {
namespace {

using namespace league::polynomial_fit;
using blocks::Scratch, blocks::require_scratch, blocks::scratch_bytes;

template <class T>
auto policy_of(const Exec& exec, Launch launch, int scratch_values) {
  Kokkos::TeamPolicy<Exec, Kokkos::IndexType<std::int64_t>, Kokkos::LaunchBounds<most_persistent_lanes<T>, 1>> policy(
      exec, launch.league, launch.team, launch.vector);
  policy.set_scratch_size(0, Kokkos::PerTeam(scratch_bytes(scratch_values)));
  return light(policy);
}

/// A lane's sums over its points.
template <class T>
KOKKOS_INLINE_FUNCTION Sums<double, sums_a_step> sums_of(const Points<T>& points, const Cubic<T>& cubic,
                                                         std::int64_t lane, std::int64_t lanes) {
  if constexpr (on_gpu)
    return lane_sums(points, cubic, lane, lanes);
  else
    return range_sums(points, cubic, piece(points.count, lane, lanes));
}

template <class T>
struct Accumulate {
  Points<T> points;
  int vector, values;
  Rule rule;
  State state;
  bool alone;
  double *partials, *sums;
  unsigned* ticket;

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const auto cubic = Cubic<T>::of(state.theta);
    if (*state.taken >= rule.steps) return;
    const Scratch scratch(team.team_scratch(0), static_cast<std::size_t>(values));
    const int first = team.team_rank() * vector, lanes = team.team_size() * vector;
    const auto of_team = blocks::sums_for_all<double, sums_a_step>(team, vector, scratch.data(), 0, [&](int lane) {
      return sums_of(points, cubic, std::int64_t{team.league_rank()} * lanes + first + lane,
                     std::int64_t{team.league_size()} * lanes);
    });
    if (!blocks::league_sums(team, vector, of_team, partials, ticket, sums, scratch.data()) || !alone) return;
    team.team_barrier();
    constexpr int positions = sums_a_step;
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, positions), [&](int i) { take_step(rule, state, sums, i); });
  }
};

template <class T>
class KokkosPart : public FitPart<T, Array> {
 public:
  KokkosPart(const PolynomialFit& problem, const Context& context, const Shard& shard)
      : FitPart<T, Array>(problem, context, shard,
                          [&]<class U>(const char* label, std::int64_t size) {
                            return Array<U>(instance(context.runtime, context.runtime.queue(shard.device)), label,
                                            size);
                          }),
        exec_(instance(context.runtime, this->queue())) {}
  void begin() override {
    const Rule rule = this->rule_;
    const State state = this->state();
    Kokkos::parallel_for(
        "polynomial_fit/begin", Kokkos::RangePolicy<Exec>(exec_, 0, sums_a_step),
        KOKKOS_LAMBDA(int i) { begin_state(rule, state, i); });
  }

 protected:
  /// The method's choice where the launch leaves it open; of the league, where a lane would have too few points.
  [[nodiscard]] Launch resolved(Launch launch, Launch standard) const {
    LaunchLimits most = limits(this->queue());
    if (on_gpu) most.team_times_vector = std::min(most.team_times_vector, most_persistent_lanes<T>);
    launch = resolve(launch, standard, most);
    const int lanes = launch.team * launch.vector;
    const std::int64_t held = std::max(1, (on_gpu ? exec_.concurrency() : this->queue().device().threads) / lanes);
    if (launch.league == 0)
      launch.league = league_of(std::min(held, ceil_div<std::int64_t>(this->rows().size(), on_gpu ? lanes * 8 : 1)));
    return launch;
  }
  Exec exec_;
};

template <class T>
class Stepwise final : public KokkosPart<T> {
 public:
  Stepwise(const PolynomialFit& problem, const Context& context, const Shard& shard)
      : KokkosPart<T>(problem, context, shard), ticket_(this->exec_, "polynomial_fit/ticket", 1) {
    Kokkos::deep_copy(this->exec_, ticket_.view(), 0U);
  }
  Launch configure(Launch launch) override {
    const int lanes = limits(this->queue()).vector;
    launch_ = this->resolved(launch, on_gpu ? Launch{0, 256 / lanes, lanes} : Launch{0, 1, 1});
    values_ = blocks::sums_for_all_size<sums_a_step>(launch_, 1);
    require_scratch(launch_, values_);
    partials_ = Array<double>(this->exec_, "polynomial_fit/partials", std::int64_t{launch_.league} * sums_a_step);
    return launch_;
  }
  void accumulate() override { Kokkos::parallel_for("polynomial_fit/accumulate", policy(this->exec_), kernel()); }
  void update() override {
    if (this->alone_) return;
    const Rule rule = this->rule_;
    const State state = this->state();
    const double* sums = this->sums_.data();
    Kokkos::parallel_for(
        "polynomial_fit/update", Kokkos::RangePolicy<Exec>(this->exec_, 0, sums_a_step),
        KOKKOS_LAMBDA(int i) { take_step(rule, state, sums, i); });
  }
  template <class Node>
  Node record(const Exec& exec, const Node& after) {
    return after.then_parallel_for("polynomial_fit/accumulate", policy(exec), kernel());
  }

 private:
  [[nodiscard]] auto policy(const Exec& exec) const { return policy_of<T>(exec, launch_, values_); }
  [[nodiscard]] Accumulate<T> kernel() {
    return {this->points(),   launch_.vector,     values_,       this->rule_, this->state(), this->alone_,
            partials_.data(), this->sums_.data(), ticket_.data()};
  }
  Launch launch_;
  int values_ = 0;  ///< of scratch memory
  Array<double> partials_;
  Array<unsigned> ticket_;
};

template <class T, int resident>
void take_all_steps(const Exec& exec, Launch launch, const Points<T>& points, const Rule& rule, const State& state) {
  const int size = blocks::sums_for_all_size<sums_a_step>(launch), vector = launch.vector;
  Kokkos::parallel_for(
      "polynomial_fit/persistent", policy_of<T>(exec, launch, size), KOKKOS_LAMBDA(const Member& team) {
        const Scratch scratch(team.team_scratch(0), static_cast<std::size_t>(size));
        const int first = team.team_rank() * vector, lanes = team.team_size() * vector;
        ResidentPoints<T, resident> mine;  // of this lane: code outside of vector ranges runs on every lane
        Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, vector),
                             [&](int lane) { mine.load(points, first + lane, lanes); });
        double theta[terms];
        for (int p = 0; p < terms; ++p) theta[p] = state.theta[p];
        for (std::int64_t step = 0; step < rule.steps; ++step) {
          const auto cubic = Cubic<T>::of(theta);
          const auto sums = blocks::sums_for_all<LaneType<T, resident>, sums_a_step>(
              team, vector, scratch.data(), step, [&](int lane) {
                if constexpr (resident > 0)
                  return mine.sums(cubic);
                else
                  return sums_of(points, cubic, first + lane, lanes);
              });
          for (int p = 0; p < terms; ++p) theta[p] -= rule.scale * sums.values[p];
          Kokkos::single(Kokkos::PerTeam(team), [&] { state.loss[step] = sums.values[terms]; });
        }
        Kokkos::single(Kokkos::PerTeam(team), [&] {
          for (int p = 0; p < terms; ++p) state.theta[p] = theta[p];
          *state.taken = rule.steps;
        });
      });
}

template <class T>
class Persistent final : public KokkosPart<T> {
 public:
  Persistent(const PolynomialFit& problem, const Context& context, const Shard& shard)
      : KokkosPart<T>(problem, context, shard) {
    require_one_device(context);
  }
  Launch configure(Launch launch) override {
    if (launch.league > 1) throw Unsupported("league " + std::to_string(launch.league) + ": one team takes all steps");
    const int lanes = limits(this->queue()).vector, threads = limits(this->queue()).team_times_vector;
    launch_ = this->resolved(launch, on_gpu ? Launch{1, 128 / lanes, lanes} : Launch{1, threads, 1});
    require_scratch(launch_, blocks::sums_for_all_size<sums_a_step>(launch_));
    return launch_;
  }
  void accumulate() override {
    if constexpr (on_gpu)
      if (this->rows().size() <= std::int64_t{most_resident} * launch_.team * launch_.vector)
        return take_all_steps<T, most_resident>(this->exec_, launch_, this->points(), this->rule_, this->state());
    take_all_steps<T, 0>(this->exec_, launch_, this->points(), this->rule_, this->state());
  }
  void update() override {}

 private:
  Launch launch_;
};

std::unique_ptr<Prepared> prepare_stepwise(const PolynomialFit& problem, const Context& context) {
  return with_type<float, double>(problem.dtype, [&]<class T>() {
    return solve<Stepwise<T>>(problem, context, problem.steps, Execution::stepwise);
  });
}
/// A Kokkos Graph on one device; on several, which it cannot join, what the runtime records.
std::unique_ptr<Prepared> prepare_graph(const PolynomialFit& problem, const Context& context) {
  return with_type<float, double>(problem.dtype, [&]<class T>() -> std::unique_ptr<Prepared> {
    if (context.shards.size() > 1) return solve<Stepwise<T>>(problem, context, problem.steps, Execution::graph);
    return std::make_unique<GraphSolve<Stepwise<T>>>(problem, context, problem.steps);
  });
}
std::unique_ptr<Prepared> prepare_persistent(const PolynomialFit& problem, const Context& context) {
  return with_type<float, double>(
      problem.dtype, [&]<class T>() { return solve<Persistent<T>>(problem, context, 1, Execution::stepwise); });
}

const Register<PolynomialFit> stepwise{"stepwise", kokkos::model, prepare_stepwise};
const Register<PolynomialFit> graph{"graph", kokkos::model, prepare_graph};
const Register<PolynomialFit> persistent{"persistent", kokkos::model, prepare_persistent};

}  // namespace
}  // namespace league::kokkos::polynomial_fit
