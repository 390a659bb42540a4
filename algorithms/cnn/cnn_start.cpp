// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/cnn/cnn_start.hpp"

#include <algorithm>

namespace league::cnn {
namespace {

FirstSteps take_steps(const Cnn& problem, const Arithmetic& arithmetic) {
  constexpr std::int64_t max_steps = 2;
  const auto initial = problem.initial.values<const float>();
  FirstSteps all{.weights = {initial.begin(), initial.end()}};
  std::vector<double> first(all.weights.size()), second(all.weights.size());
  for (std::int64_t step = 0; step < std::min(problem.steps - 1, max_steps); ++step) {
    const Gradient gradient = differentiate(all.weights, batch_of(problem, step, arithmetic));
    all.losses.push_back(gradient.loss);
    all.loss_bounds.push_back(gradient.loss_bound);
    const auto size = blocks::step_size<double>(problem.optimizer, problem.rate_of(step), step + 1);
    for (std::size_t i = 0; i < all.weights.size(); ++i) {
      const auto to = blocks::advanced<double>(problem.optimizer, {all.weights[i], first[i], second[i]},
                                               gradient.values[i], size, problem.network.adam_epsilon);
      all.weights[i] = to.value, first[i] = to.first, second[i] = to.second;
    }
  }
  return all;
}

}  // namespace

Batch batch_of(const Cnn& problem, std::int64_t step, const Arithmetic& arithmetic) {
  return {problem.data.train.values<const std::uint8_t>(),
          problem.data.train_labels.values<const std::int32_t>(),
          problem.order_of(step),
          step,
          problem.dropout,
          arithmetic,
          &problem.network};
}

const FirstSteps& Start::of(const Cnn& problem, const Arithmetic& arithmetic) {
  const std::scoped_lock lock(mutex_);
  const std::tuple key{arithmetic.rounded, arithmetic.roundoff, arithmetic.transforms};
  const auto found = known_.find(key);
  return found != known_.end() ? found->second : known_.emplace(key, take_steps(problem, arithmetic)).first->second;
}

}  // namespace league::cnn
