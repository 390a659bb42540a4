// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>

#include "algorithms/drivers/iterative.hpp"
#include "algorithms/softmax_regression/common/step.hpp"
#include "algorithms/softmax_regression/softmax_regression.hpp"
#include "backends/launch.hpp"

namespace league::softmax_regression {

/// The rows, the state and the sums of one shard, in arrays of the model's device.
template <class T, template <class> class Array>
struct Memory {
  Memory(VariantShard& of, const SoftmaxRegression& what) : shard(of), problem(what) {
    shard.declare(x, "softmax/rows", shard.rows().size() * problem.pitch);
    shard.declare(labels, "softmax/labels", shard.rows().size());
    for (std::int64_t number = 0, at = 0; number < batches(); at += own(number++).size()) {
      shard.input(x, problem.stored_rows<T>(own(number)), at * problem.pitch);
      shard.input(labels, problem.labels_of(own(number)), at);
    }
    shard.declare(theta, "softmax/theta", (problem.features + 1) * problem.classes);
    shard.declare(loss, "softmax/loss", problem.steps);
    shard.declare(taken, "softmax/taken", 1);
    shard.declare(current, "softmax/current", 1);
    shard.declare(sums, "softmax/sums", problem.classes * problem.pitch + 1);
    shard.whole_output(theta, SoftmaxRegression::theta);
    shard.whole_output(loss, SoftmaxRegression::loss);
    shard.whole_output(taken, SoftmaxRegression::steps_taken);
  }
  /// Declares the weights in the method's layout.
  void declare_weights(std::int64_t pitch) {
    weights_pitch = static_cast<int>(pitch);
    shard.declare(weights, "softmax/weights", turns(problem.classes) * classes_together * pitch);
  }
  [[nodiscard]] Rule rule() const {
    return {.all_rows = problem.extent(),
            .batch = problem.batch,
            .batches = batches(),
            .own_batch = own(0).size(),
            .own_last_batch = own(batches() - 1).size(),
            .is_first = shard.is_first(),
            .features = static_cast<int>(problem.features),
            .classes = problem.classes,
            .pitch = static_cast<int>(problem.pitch),
            .learning_rate = problem.learning_rate,
            .l2 = problem.l2,
            .scale = problem.scale};
  }
  [[nodiscard]] Descent descent() const {
    return {rule(), theta.data(), weights.data(), loss.data(), taken.data(), current.data(), weights_pitch};
  }
  /// Maximum rows per step on this shard.
  [[nodiscard]] std::int64_t max_rows() const { return own(0).size(); }
  [[nodiscard]] std::int64_t batches() const { return ceil_div(problem.extent(), problem.batch); }
  /// The rows of this shard in batch `number`, by global index.
  [[nodiscard]] Range own(std::int64_t number) const {
    return shard.world().batch == 0 ? shard.rows() : shard.world().in_batch(shard.index(), number);
  }
  /// The sums for the all-reduce; null with a single shard, which takes the step at once.
  [[nodiscard]] double* shared_sums() const { return shard.is_alone() ? nullptr : sums.data(); }

  VariantShard& shard;
  const SoftmaxRegression& problem;
  Array<T> x;
  Array<std::int32_t> labels;
  Array<double> theta, loss, sums;
  Array<std::int64_t> taken, current;
  Array<float> weights;
  int weights_pitch = 0;
};

/// Further memory for a library's products: all rows of a batch at once.
template <template <class> class Array>
struct Products {
  Products(const Memory<float, Array>& memory, int rows_of_team)
      : teams(league_of(ceil_div<std::int64_t>(memory.max_rows(), rows_of_team))) {
    const SoftmaxRegression& problem = memory.problem;
    memory.shard.declare(logits, "softmax/logits", memory.max_rows() * problem.classes);
    memory.shard.declare(gradient, "softmax/gradient", problem.classes * problem.pitch);
    memory.shard.declare(losses, "softmax/losses", teams);
    memory.shard.result(SoftmaxRegression::theta).form = SoftmaxRegression::product;
  }
  int teams;  ///< league size of the kernel between the products
  Array<float> logits, gradient;
  Array<double> losses;  ///< of the teams
};

/// The class for the type of the stored rows.
template <template <class> class P>
static std::unique_ptr<IterativeShard> by_type(const SoftmaxRegression& problem, const Context& context,
                                               const Shard& shard) {
  return with_type<float, std::uint8_t>(problem.dtype, [&]<class T>() -> std::unique_ptr<IterativeShard> {
    return std::make_unique<P<T>>(problem, context, shard);
  });
}

/// The class of a method for floats only.
template <class P>
std::unique_ptr<IterativeShard> of_one_type(const SoftmaxRegression& problem, const Context& context,
                                            const Shard& shard) {
  return std::make_unique<P>(problem, context, shard);
}

}  // namespace league::softmax_regression
