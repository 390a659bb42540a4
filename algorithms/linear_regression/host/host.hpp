// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/linear_regression/common/gram_lanes.hpp"
#include "algorithms/linear_regression/common/moments.hpp"
#include "backends/host_array.hpp"

namespace league::linear_regression {

/// The steps that need no threads.
class HostShard : public FitShard<host::Array> {
 public:
  using FitShard::FitShard;
  void begin() const override {
    queue().submit([rule = rule_, state = state(), weight = problem_.start_weight, bias = problem_.start_bias] {
      for (int i = 0; i < rule.features + 2; ++i) begin_state(rule, state, weight, bias, i);
    });
  }
  void update() const override {
    queue().submit([rule = rule_, state = state(), sums = sums_.data()] {
      for (int i = 0; i < rule.features + 2; ++i) take_step(rule, state, sums, i);
    });
  }
};

/// The normal equations, but for the pass over the rows.
class HostDirect : public HostShard {
 public:
  HostDirect(const LinearRegression& problem, const Context& context, const Shard& shard)
      : HostShard(problem, context, shard, Gram(problem.features).sums() - 2) {}
  void begin() const override {}
  void update() const override {
    queue().submit([gram = Gram(problem_.features), rows = problem_.rows, sums = sums_.data(), theta = theta_.data()] {
      constexpr int side = blocks::host_solve_side;
      std::vector<double> scratch(static_cast<std::size_t>(solve_scratch<side>(gram)));
      solve_equations<side>(gram, rows, sums, scratch.data(), theta, blocks::one_thread);
    });
  }
};

/// The descent on moments, but for the pass over the rows.
class HostMoments : public HostShard {
 public:
  HostMoments(const LinearRegression& problem, const Context& context, const Shard& shard)
      : HostShard(problem, context, shard, Gram(problem.features).sums() - 2) {}
  void begin() const override {}
  void update() const override {
    queue().submit([solve = MomentSolve(problem_), state = state(), sums = sums_.data()] {
      with_block_width(solve.features, [&]<int width>() { solve.take_all_steps<width>(sums, state); });
    });
  }
};

template <class T>
using HostRows = RowMemory<T, host::Array>;

}  // namespace league::linear_regression
