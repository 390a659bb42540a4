// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/sums_kokkos.hpp"
#include "algorithms/linear_regression/kokkos_part.hpp"

// A team takes runs of rows, a lane packs of 16 bytes of each column, all loads of a run first. On a host a thread
// takes one block of consecutive rows, a vector of them at a time.
namespace league::kokkos::linear_regression {
namespace {

enum class Finish { atomic, last_team };

/// Adds the sums of a shard's rows. The last team adds those of all teams in order, and takes the step where no other
/// shard has sums to wait for.
template <class T, int width, Finish finish>
struct Accumulate {
  Columns<T> data;
  int vector, values;
  Rule rule;
  State state;
  bool alone;
  double *partials, *sums;
  unsigned* ticket;

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const Line<T, width> line = line_of<T, width>(state.theta, data.features);
    if (*state.taken >= rule.steps) return;
    const Scratch scratch(team.team_scratch(0), static_cast<std::size_t>(values));
    const int first = team.team_rank() * vector, lanes = team.team_size() * vector;
    const auto of_team = blocks::sums_for_all<double, terms<width>>(team, vector, scratch.data(), 0, [&](int lane) {
      return sums_of(data, line, {team.league_rank(), team.league_size(), first + lane, lanes});
    });
    if constexpr (finish == Finish::atomic) {
      Kokkos::single(Kokkos::PerTeam(team), [&] {
        for (int i = 0; i < terms<width>; ++i) Kokkos::atomic_add(sums + i, of_team.values[i]);
      });
    } else {
      if (!blocks::league_sums(team, vector, of_team, partials, ticket, sums, scratch.data()) || !alone) return;
      team.team_barrier();
      Kokkos::parallel_for(Kokkos::TeamVectorRange(team, rule.features + 2),
                           [&](int i) { take_step(rule, state, sums, i); });
    }
  }
};

template <class T, int width, Finish finish>
class Fused final : public KokkosPart<T> {
 public:
  Fused(const LinearRegression& problem, const Context& context, const Shard& shard)
      : KokkosPart<T>(problem, context, shard, width), ticket_(this->exec_, "linear_regression/ticket", 1) {
    Kokkos::deep_copy(this->exec_, ticket_.view(), 0U);
  }
  Launch configure(Launch launch) override {
    constexpr int rows_a_lane = pack_bytes<width> / static_cast<int>(sizeof(T));
    launch_ = this->resolved(launch, 256, most_lanes<width>, rows_a_lane, device_share<width>);
    values_ = blocks::sums_for_all_size<terms<width>>(launch_, 1);
    require_scratch(launch_, values_);
    if (finish == Finish::last_team)
      partials_ = Array<double>(this->exec_, "linear_regression/partials", std::int64_t{launch_.league} * terms<width>);
    return launch_;
  }
  void accumulate() override { Kokkos::parallel_for("linear_regression/accumulate", policy(), kernel()); }
  void update() override {
    if (finish == Finish::atomic || !this->alone_) KokkosPart<T>::update();
  }

 private:
  [[nodiscard]] auto policy() const {
    return policy_of<most_lanes<width>, teams_at_once<width>>(this->exec_, launch_, values_);
  }
  [[nodiscard]] Accumulate<T, width, finish> kernel() {
    return {this->data(),     launch_.vector,     values_,       this->rule_, this->state(), this->alone_,
            partials_.data(), this->sums_.data(), ticket_.data()};
  }
  Launch launch_;
  int values_ = 0;  ///< of scratch memory
  Array<double> partials_;
  Array<unsigned> ticket_;
};

template <Finish finish, Execution execution>
std::unique_ptr<Prepared> prepare(const LinearRegression& problem, const Context& context) {
  return with_type<float, double>(problem.dtype, [&]<class T>() {
    return with_width(problem.features, [&]<int width>() {
      return solve<Fused<T, width, finish>>(problem, context, problem.steps, execution);
    });
  });
}

const Register<LinearRegression> fused{"fused", kokkos::model, prepare<Finish::atomic, Execution::stepwise>};
const Register<LinearRegression> block_reduce{"block_reduce", kokkos::model,
                                              prepare<Finish::last_team, Execution::stepwise>};
const Register<LinearRegression> graph{"graph", kokkos::model, prepare<Finish::last_team, Execution::graph>};

}  // namespace
}  // namespace league::kokkos::linear_regression
