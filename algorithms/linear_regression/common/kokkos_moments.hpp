// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/linear_regression/common/kokkos.hpp"
#include "algorithms/linear_regression/common/moments.hpp"

namespace league::kokkos::linear_regression {

template <int width>
struct TakeAllSteps {
  MomentSolve solve;
  State state;
  Values<double> sums;
  KOKKOS_FUNCTION void operator()(int) const { solve.take_all_steps<width>(sums, state); }
};

/// The descent on moments, but for the pass over the rows.
class Descend : public KokkosShard {
 public:
  Descend(const LinearRegression& problem, const Context& context, const Shard& shard)
      : KokkosShard(problem, context, shard, Gram(problem.features).sums() - 2) {}
  void begin() const override {}
  void update() const override {
    with_block_width(problem_.features, [&]<int width>() {
      submit(queue(), "linear_regression/moments", one_item(exec_),
             TakeAllSteps<width>{MomentSolve(problem_), state(), sums_.view()});
    });
  }
};

}  // namespace league::kokkos::linear_regression
