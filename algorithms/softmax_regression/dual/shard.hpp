// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>

#include "algorithms/softmax_regression/common/memory.hpp"
#include "algorithms/softmax_regression/dual/kernel.hpp"

namespace league::softmax_regression {

/// Memory of the `dual` kernels, the same in CUDA and Kokkos.
template <class T, template <class> class Array>
struct DualMemory {
  /// @throws Unsupported for more rows and classes than fit in scratch, or several shards
  DualMemory(VariantShard& shard, const Context& context, const SoftmaxRegression& problem) : rows(shard, problem) {
    require_alone(context);
    const std::int64_t count = problem.extent();
    DualLimits::require(count, problem.classes);
    rows.declare_weights(problem.pitch);
    shard.declare(gram, "softmax/gram", count * count);
    shard.declare(alpha, "softmax/alpha", (count + 1) * problem.classes);
  }
  /// The launch of the steps: one team. @throws Unsupported for several, or for vectors
  Launch configure(Launch requested, const LaunchLimits& limits, int subgroup) {
    const int items = static_cast<int>(rows.problem.extent()) * rows.problem.classes + rows.problem.classes + 1;
    const int threads = std::min(ceil_div(items, subgroup) * subgroup, subgroup == 1 ? 1 : DualLimits::max_threads);
    launch = resolve(requested, {1, threads, 1}, limits);
    if (launch.league != 1 || launch.vector != 1 || launch.team > DualLimits::max_threads)
      throw Unsupported("league " + std::to_string(launch.league) + ", team size " + std::to_string(launch.team) +
                        ", vector length " + std::to_string(launch.vector) + ": one team of up to " +
                        std::to_string(DualLimits::max_threads) + " threads takes all steps, its vector length is 1");
    return launch;
  }
  [[nodiscard]] DualWork<T> work() const {
    return {rows.x.data(), rows.labels.data(), rows.descent(), gram.data(), alpha.data(), rows.problem.steps};
  }
  [[nodiscard]] int scratch_bytes() const {
    return static_cast<int>(DualLimits::bytes(rows.problem.extent(), rows.problem.classes));
  }
  /// Elements of K and of theta.
  [[nodiscard]] std::int64_t products() const { return rows.problem.extent() * rows.problem.extent(); }
  [[nodiscard]] std::int64_t parameters() const { return (rows.problem.features + 1) * rows.problem.classes; }
  /// Threads that add an element of K.
  [[nodiscard]] int product_threads(int subgroup) const {
    return subgroup > 1 && rows.problem.features >= 8 * subgroup ? 4 * subgroup : subgroup;
  }

  Memory<T, Array> rows;
  Launch launch;
  Array<double> gram, alpha;
};

}  // namespace league::softmax_regression
