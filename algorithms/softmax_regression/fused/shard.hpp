// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/softmax_regression/common/memory.hpp"
#include "algorithms/softmax_regression/fused/kernel.hpp"

namespace league::softmax_regression {

/// Memory of the `fused` kernels on a GPU, the same in CUDA and Kokkos.
template <class T, template <class> class Array>
struct FusedMemory {
  FusedMemory(VariantShard& shard, const SoftmaxRegression& problem) : rows(shard, problem) {}

  Launch configure(Launch launch, const LaunchLimits& limits, int multiprocessors) {
    const auto pitch = static_cast<int>(rows.problem.pitch);
    const int classes = rows.problem.classes;
    plan = softmax_regression::plan<T>(launch, limits, pitch / 4, classes, rows.max_rows(), multiprocessors);
    rows.declare_weights(plan.resident ? resident_pitch : pitch);
    rows.shard.declare(partials, "softmax/partials",
                       std::int64_t{plan.launch.league} * classes * pitch * plan.partial_bytes());
    rows.shard.declare(losses, "softmax/losses", plan.launch.league);
    return plan.launch;
  }
  [[nodiscard]] FusedWork<T> work() const {
    return {rows.x.data(),   rows.labels.data(), rows.descent(),
            partials.data(), losses.data(),      ceil_div(static_cast<int>(rows.problem.features) + 1, 4)};
  }
  /// Calls `add` with the partial gradients, as floats or doubles.
  template <class Add>
  void with_partials(const Add& add) const {
    if (plan.resident)
      add(reinterpret_cast<const float*>(partials.data()));
    else
      add(reinterpret_cast<const double*>(partials.data()));
  }

  Memory<T, Array> rows;
  Plan plan;
  Array<std::uint8_t> partials;  ///< [league][classes][pitch] floats or doubles
  Array<double> losses;          ///< [league]
};

}  // namespace league::softmax_regression
