// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>

#include "algorithms/polynomial_fit/common/lanes.hpp"
#include "algorithms/polynomial_fit/common/shard.hpp"
#include "backends/host_array.hpp"

namespace league::polynomial_fit {

/// The steps that need no threads.
class HostShard : public FitShard<host::Array> {
 public:
  using FitShard::FitShard;
  void begin() const override {
    queue().submit([rule = rule_, state = state()] {
      for (int i = 0; i < sums_per_step; ++i) begin_state(rule, state, i);
    });
  }
  void update() const override {
    queue().submit([rule = rule_, state = state(), sums = sums_.data()] {
      for (int i = 0; i < sums_per_step; ++i) take_step(rule, state, sums, i);
    });
  }
};

/// The descent on moments, but for the pass over the points.
class HostMoments : public HostShard {
 public:
  HostMoments(const PolynomialFit& problem, const Context& context, const Shard& shard)
      : HostShard(problem, context, shard, moment_sums) {}
  void begin() const override {}
  void update() const override {
    queue().submit(
        [rule = rule_, points = points_, sums = sums_.data(), state = state()] { descend(rule, points, sums, state); });
  }
};

template <class T>
using HostPoints = PointMemory<T, host::Array>;

}  // namespace league::polynomial_fit
