// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/shard_sums_kokkos.hpp"
#include "algorithms/linear_regression/common/kokkos_rows.hpp"

namespace league::kokkos::linear_regression {
namespace {

// As `fused`; the last team adds the sums of all teams in order, then those of all shards, and takes the step.
template <class T, int width, class Shards>
struct ReduceRows {
  typename RowSums<T, width>::Data data;
  int lanes;  ///< of a team
  Rule rule;
  State state;
  Shards shards;
  Values<double> partials, sums;
  Values<unsigned> ticket;
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const std::int64_t step = *state.taken;
    if (step >= rule.steps) return;
    const blocks::TeamSums<terms<width>> adder(team, lanes);
    const bool last = adder.over_league(
        partials, ticket,
        [&](int lane, double (&mine)[terms<width>]) {
          const Line<T, width> line = line_of<T, width>(state.theta, data.features);
          RowSums<T, width> of_lane(data, line);
          of_lane.add_all(team.league_rank(), team.league_size(), lane, lanes, step % 2 != 0);
          of_lane.leave(mine);
        },
        [&](int i, double sum) { sums(i) = sum; });
    if (!last || !shards.takes_step) return;
    team.team_barrier();
    blocks::add_over_shards(team, shards, terms<width>, sums);
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, rule.features + 2),
                         [&](int i) { take_step(rule, state, sums, i); });
  }
};

template <class T, int width>
class BlockReduce final : public RowShard<T, width> {
  using Base = RowShard<T, width>;

 public:
  BlockReduce(const LinearRegression& problem, const Context& context, const Shard& shard)
      : Base(problem, context, shard) {
    this->declare_zeroed(ticket_, "linear_regression/ticket", 1);
  }
  Launch configure(Launch launch) override {
    launch = Base::configure(launch);
    this->declare(partials_, "linear_regression/partials", std::int64_t{launch.league} * terms<width>);
    return launch;
  }
  void accumulate() const override {
    blocks::with_shards(shards_, [this]<class Shards>(const Shards& shards) {
      const ReduceRows<T, width, Shards> kernel{this->views(), this->lanes(),    this->rule_,        this->state(),
                                                shards,        partials_.view(), this->sums_.view(), ticket_.view()};
      submit(this->queue(), "linear_regression/block_reduce", this->row_policy(), kernel);
    });
  }
  void update() const override {
    if (!shards_.takes_step) Base::update();
  }
  [[nodiscard]] bool can_connect() const override { return true; }
  void connect(const DeviceView& view) override { shards_ = {true, view}; }

 private:
  blocks::ShardSums shards_{this->is_alone()};
  Array<double> partials_;
  Array<unsigned> ticket_;
};

const RegisterSolve<LinearRegression> block_reduce{"block_reduce", once(), by_width<BlockReduce>};

}  // namespace
}  // namespace league::kokkos::linear_regression
