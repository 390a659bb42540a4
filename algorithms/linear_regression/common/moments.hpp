// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/moment_descent.hpp"
#include "algorithms/linear_regression/common/gram.hpp"
#include "algorithms/linear_regression/common/shard.hpp"

/// The method `moments`: one pass for the moments of the data, then all steps on them.
namespace league::linear_regression {

/// What one thread's registers hold of the moments.
inline constexpr int max_moment_features = 10;

/// A descent on the moments of all rows.
struct MomentSolve {
  blocks::Descent descent;
  double weight, bias;  ///< before the first step
  double rows;          ///< that the moments are of
  int features;

  explicit MomentSolve(const LinearRegression& problem)
      : descent{problem.rate / static_cast<double>(problem.rows), 0.5 / static_cast<double>(problem.rows),
                problem.steps},
        weight(problem.start_weight),
        bias(problem.start_bias),
        rows(static_cast<double>(problem.rows)),
        features(problem.features) {}

  /// By one thread. `sums`, a pointer or a View: of one block of `width` features, as `Gram` lays them out; those of
  /// features that are not there are anything.
  template <int width, class Sums>
  LEAGUE_FUNCTION void take_all_steps(const Sums& sums, const State& state) const {
    constexpr int triangle = width * (width + 1) / 2;
    using Moments = blocks::Moments<width + 1>;
    Moments moments;
    OwnTheta<width> theta;
    blocks::unrolled<width * width>([&](int at) {
      const int i = at / width, j = at % width;
      if (i <= j) moments.products[Moments::at(i, j)] = j < features ? sums[i * width - i * (i - 1) / 2 + j - i] : 0;
    });
    blocks::unrolled<width>([&](int i) {
      moments.right[i] = i < features ? sums[triangle + i] : 0;
      moments.products[Moments::at(i, width)] = i < features ? sums[triangle + width + i] : 0;
      theta.values[i] = i < features ? weight : 0;
    });
    moments.products[Moments::at(width, width)] = rows;
    moments.right[width] = sums[triangle + 2 * width];
    moments.square = sums[triangle + 2 * width + 1];
    theta.values[width] = bias;
    blocks::descend(moments, descent, theta.values, state.loss);
    theta.store(state.theta, features);
    *state.taken = descent.steps;
  }
};

/// The class whose block of features takes all. @throws Unsupported where there are more
template <template <class, int> class P>
static std::unique_ptr<IterativeShard> by_moment_width(const LinearRegression& problem, const Context& context,
                                                       const Shard& shard) {
  if (problem.features > max_moment_features)
    throw Unsupported(std::to_string(problem.features) + " features: a thread holds the moments of up to " +
                      std::to_string(max_moment_features));
  return by_block_width<P>(problem, context, shard);
}

}  // namespace league::linear_regression
