// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/group_kokkos.hpp"
#include "algorithms/linear_regression/common/gram_lanes.hpp"
#include "algorithms/linear_regression/common/kokkos_specialised.hpp"

namespace league::kokkos::linear_regression::specialised {

/// One team of a multiprocessor: registers.
inline constexpr int max_lanes_direct = 256;

struct Solve {
  static constexpr int side = on_gpu ? blocks::device_solve_side : blocks::host_solve_side;
  Gram gram;
  std::int64_t rows;
  const double* sums;
  double* theta;
  int size;  ///< of scratch
  template <class M>
  KOKKOS_FUNCTION void operator()(const M& team) const {
    const Scratch scratch(team.team_scratch(0), static_cast<std::size_t>(size));
    solve_equations<side>(gram, rows, sums, scratch.data(), theta, blocks::team_group(team, team.team_size()));
  }
};

/// The normal equations, but for the pass over the rows.
class SpecialisedDirect : public KokkosShard {
 public:
  SpecialisedDirect(const LinearRegression& problem, const Context& context, const Shard& shard)
      : KokkosShard(problem, context, shard, Gram(problem.features).sums() - 2), gram_(problem.features) {}
  void begin() const override {}
  void update() const override {
    constexpr int threads = Solve::side * Solve::side;
    const int size = solve_scratch<Solve::side>(gram_);
    submit(queue(), "linear_regression/solve", policy_of<max_lanes_direct>(exec_, {1, threads, 1}, scratch_bytes(size)),
           Solve{gram_, problem_.rows, sums_.data(), theta_.data(), size});
  }

 protected:
  const Gram gram_;
};

}  // namespace league::kokkos::linear_regression::specialised
