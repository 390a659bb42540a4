// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/linear_regression/common/kokkos_rows.hpp"

namespace league::kokkos::linear_regression {
namespace {

// A team takes runs of rows, a lane packs of each column, all loads of a run first; an atomic addition per team and
// sum.
template <class T, int width>
struct AddRows {
  typename RowSums<T, width>::Data data;
  int lanes;  ///< of a team
  std::int64_t steps;
  State state;
  Values<double> sums;
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const std::int64_t step = *state.taken;
    if (step >= steps) return;
    const blocks::TeamSums<terms<width>> adder(team, lanes);
    adder.over_lanes(
        [&](int lane, double (&mine)[terms<width>]) {
          const Line<T, width> line = line_of<T, width>(state.theta, data.features);
          RowSums<T, width> of_lane(data, line);
          of_lane.add_all(team.league_rank(), team.league_size(), lane, lanes, step % 2 != 0);
          of_lane.leave(mine);
        },
        [&](int i, double sum) { Kokkos::atomic_add(&sums(i), sum); });
  }
};

template <class T, int width>
class Fused final : public RowShard<T, width> {
 public:
  using RowShard<T, width>::RowShard;
  void accumulate() const override {
    submit(this->queue(), "linear_regression/fused", this->row_policy(),
           AddRows<T, width>{this->views(), this->lanes(), this->rule_.steps, this->state(), this->sums_.view()});
  }
};

const RegisterSolve<LinearRegression> fused{"fused", once(), by_width<Fused>, {Execution::stream}};

}  // namespace
}  // namespace league::kokkos::linear_regression
