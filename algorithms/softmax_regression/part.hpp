// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <type_traits>

#include "algorithms/budget.hpp"
#include "algorithms/softmax_regression/softmax_regression.hpp"
#include "algorithms/softmax_regression/step.hpp"
#include "algorithms/solve.hpp"
#include "backends/launch.hpp"

namespace league::softmax_regression {

/// The rows, the state and the sums of one shard. `ArrayOf<T>` is an array of the model's device.
template <class T, template <class> class ArrayOf>
class SoftmaxPart : public StepPart {
 public:
  std::span<double> sums() override { return {sums_.data(), static_cast<std::size_t>(sums_.size())}; }

 protected:
  /// `make(label, array, size)` allocates.
  template <class Make>
  SoftmaxPart(const SoftmaxRegression& problem, const Context& context, const Shard& shard, const Make& make)
      : StepPart(context, shard),
        problem_(problem),
        alone_(context.shards.size() == 1),
        budget_bytes_(context.memory_budget_bytes),
        bytes_(shard.rows.size() * (problem.pitch * static_cast<std::int64_t>(sizeof(T)) + 4) +
               problem.classes * (problem.features + 1 + problem.pitch) * 8 +
               turns(problem.classes) * classes_together * problem.pitch * 4 + problem.steps * 8) {
    require_memory(bytes_, budget_bytes_);
    make("softmax/rows", x_, rows().size() * problem.pitch);
    make("softmax/labels", labels_, rows().size());
    make("softmax/theta", theta_, (problem.features + 1) * problem.classes);
    make("softmax/loss", loss_, problem.steps);
    make("softmax/taken", taken_, 1);
    make("softmax/current", current_, 1);
    make("softmax/sums", sums_, problem.classes * problem.pitch + 1);
    input(x_, problem.rows.values<const T>(rows().begin, rows().end));
    input(labels_, problem.labels.values<const std::int32_t>(rows().begin, rows().end));
    whole_output(theta_, SoftmaxRegression::theta);
    whole_output(loss_, SoftmaxRegression::loss);
    whole_output(taken_, SoftmaxRegression::steps_taken);
  }

  /// How `configure` wants the weights to lie.
  template <class Make>
  void make_weights(int pitch, const Make& make) {
    weights_pitch_ = pitch;
    make("softmax/weights", weights_, std::int64_t{turns(problem_.classes)} * classes_together * pitch);
  }
  [[nodiscard]] Descent descent() {
    return {.theta = theta_.data(),
            .weights = weights_.data(),
            .loss = loss_.data(),
            .taken = taken_.data(),
            .current = current_.data(),
            .all_rows = problem_.extent(),
            .batch = problem_.batch,
            .batches = ceil_div(problem_.extent(), problem_.batch),
            .first_row = rows().begin,
            .last_row = rows().end,
            .features = static_cast<int>(problem_.features),
            .classes = problem_.classes,
            .pitch = static_cast<int>(problem_.pitch),
            .weights_pitch = weights_pitch_,
            .learning_rate = problem_.learning_rate,
            .l2 = problem_.l2,
            .scale = problem_.scale};
  }
  /// The most rows that a step takes here.
  [[nodiscard]] std::int64_t most_rows() const { return std::min(rows().size(), problem_.batch); }

  const SoftmaxRegression& problem_;
  bool alone_;
  std::int64_t budget_bytes_, bytes_;
  ArrayOf<T> x_;
  ArrayOf<std::int32_t> labels_;
  ArrayOf<double> theta_, loss_, sums_;
  ArrayOf<std::int64_t> taken_, current_;
  ArrayOf<float> weights_;

 private:
  int weights_pitch_ = 0;
};

/// `make` for arrays that are made on a queue: of hosts and of raw CUDA.
inline auto on_queue(const Context& context, const Shard& shard) {
  return [&queue = context.runtime.queue(shard.device)](const char*, auto& array, std::int64_t size) {
    array = std::remove_reference_t<decltype(array)>(queue, size);
  };
}

}  // namespace league::softmax_regression
