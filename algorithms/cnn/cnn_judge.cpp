// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/cnn/cnn_judge.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "algorithms/cnn/cnn_start.hpp"
#include "algorithms/oracle/agree.hpp"
#include "algorithms/oracle/judge.hpp"

namespace league::cnn {
namespace {

using blocks::Weight;

/// The name of a parameter, such as "conv2.weight[17]".
std::string place_of(const Network& network, std::int64_t parameter) {
  int tensor = 0;
  while (parameter >= network.tensor_begin(tensor + 1)) ++tensor;
  const int layer = tensor / 2;
  const std::string name =
      layer < network.count ? "conv" + std::to_string(layer + 1) : "fc" + std::to_string(layer - network.count + 1);
  return name + (tensor % 2 == 0 ? ".weight[" : ".bias[") + std::to_string(parameter - network.tensor_begin(tensor)) +
         "]";
}

/// Compares every value of [parameters] with `expected(i)`.
template <class Expect>
Verdict judge_parameters(const Network& network, const std::string& what, std::span<const float> values,
                         const Expect& expected) {
  Verdict verdict = judge_values(what, values, expected);
  const auto wrong = [&](std::int64_t i) {
    const Expected wanted = expected(i);
    return !(std::abs(static_cast<double>(values[static_cast<std::size_t>(i)]) - wanted.value) <= wanted.bound);
  };
  if (verdict.passed()) return verdict;
  std::int64_t first = 0;
  while (first < network.parameters() && !wrong(first)) ++first;
  verdict.message += ": " + place_of(network, first);
  return verdict;
}

/// Gathers the values of all processes, each of which has written its own.
template <class T>
std::vector<T> gather(std::span<const T> mine, Reduce& reduce, Verdict& verdict, const std::string& what) {
  constexpr auto untouched = static_cast<T>(-1);  // as outputs are poisoned
  std::vector<std::int64_t> sums(mine.size()), writers(mine.size());
  for (std::size_t i = 0; i < mine.size(); ++i)
    if (mine[i] != untouched) sums[i] = mine[i], writers[i] = 1;
  reduce.sum(std::span(sums));
  reduce.sum(std::span(writers));
  const auto wrong = std::ranges::find_if(writers, [](std::int64_t count) { return count != 1; });
  if (wrong != writers.end())
    verdict.fail(what + "[" + std::to_string(wrong - writers.begin()) + "] was written by " + std::to_string(*wrong) +
                 " processes, expected one");
  std::vector<T> all(sums.size());
  std::ranges::transform(sums, all.begin(), [](std::int64_t sum) { return static_cast<T>(sum); });
  return all;
}

std::vector<double> doubles_of(std::span<const float> values) { return {values.begin(), values.end()}; }

/// Checks loss and gradient of the last step.
Verdict judge_gradient(const Cnn& problem, const Outputs& outputs, const Gradient& gradient,
                       const Arithmetic& arithmetic) {
  // Subnormal floats (below 2^-126) lose digits or are flushed to 0, in terms of sums and in factors.
  double least = 1e-32;
  // A library's transform leaves roundings of other components where all terms are 0.
  if (arithmetic.rounded == Arithmetic::Rounded::all || arithmetic.transforms > 1)
    for (const double value : gradient.values) least = std::max(least, 0x1p-24 * std::abs(value));
  Verdict verdict;
  const double loss = outputs[Cnn::loss].values.values<const float>().back();
  if (!(std::abs(loss - gradient.loss) <= gradient.loss_bound))
    verdict.fail("loss[" + std::to_string(problem.steps - 1) + "] is " + all_digits(loss) + ", expected " +
                 all_digits(gradient.loss) + " within " + all_digits(gradient.loss_bound));
  verdict += judge_parameters(problem.network, "gradient", outputs[Cnn::gradient].values.values<const float>(),
                              [&](std::int64_t i) {
                                const auto at = static_cast<std::size_t>(i);
                                return Expected{gradient.values[at], gradient.bounds[at] + least};
                              });
  return verdict;
}

/// False if the training has diverged so far that rounding may change a probability by any factor.
bool has_bounds(const Gradient& gradient) {
  const auto finite = [](double value) { return std::isfinite(value); };
  return finite(gradient.loss_bound) && std::ranges::all_of(gradient.bounds, finite);
}

/// Checks the update, recomputed in double from the variant's own gradient; a few roundings are allowed.
Verdict judge_update(const Cnn& problem, const Outputs& outputs) {
  constexpr double unit = 0x1p-24, few = 32 * unit;
  const auto before = outputs[Cnn::weights_before].values.values<const float>(),
             state_before = outputs[Cnn::state_before].values.values<const float>(),
             gradient = outputs[Cnn::gradient].values.values<const float>(),
             after = outputs[Cnn::weights].values.values<const float>(),
             state = outputs[Cnn::state].values.values<const float>();
  const std::int64_t last = problem.warm_up + problem.steps - 1;
  const auto decays = outputs[Cnn::weights].form == Cnn::f32_decays ? blocks::f32_decays : blocks::Decays<double>{};
  const auto size = blocks::step_size<double>(problem.optimizer, problem.rate_of(last), last + 1, decays);
  const auto of_state = [&](std::span<const float> values, int number, std::int64_t i) {
    return values.empty()
               ? 0.0
               : static_cast<double>(values[static_cast<std::size_t>(number * problem.network.parameters() + i)]);
  };
  const auto start = [&](std::int64_t i) {
    return Weight<double>{before[static_cast<std::size_t>(i)], of_state(state_before, 0, i),
                          of_state(state_before, 1, i)};
  };
  const auto replayed = [&](std::int64_t i) {
    return blocks::advanced<double>(problem.optimizer, start(i), gradient[static_cast<std::size_t>(i)], size,
                                    problem.network.adam_epsilon, decays);
  };
  // With cancellation, the bound is relative to the terms.
  const auto size_of_change = [&](std::int64_t i) {
    const Weight<double> from = start(i);
    const double size_of_gradient = std::abs(static_cast<double>(gradient[static_cast<std::size_t>(i)]));
    const Weight<double> moved = blocks::advanced<double>(problem.optimizer, {0, std::abs(from.first), from.second},
                                                          size_of_gradient, size, problem.network.adam_epsilon, decays);
    return std::abs(moved.value);
  };
  Verdict verdict = judge_parameters(problem.network, "weights", after, [&](std::int64_t i) {
    return Expected{replayed(i).value,
                    few * size_of_change(i) +
                        2 * unit * std::abs(static_cast<double>(before[static_cast<std::size_t>(i)])) + 1e-38};
  });
  for (int number = 0; number < blocks::states_of(problem.optimizer); ++number)
    verdict += judge_parameters(
        problem.network, "state", state.subspan(static_cast<std::size_t>(number) * after.size(), after.size()),
        [&](std::int64_t i) {
          const Weight<double> from = start(i), to = replayed(i);
          const double old = number == 0 ? from.first : from.second, now = number == 0 ? to.first : to.second;
          return Expected{now, few * (std::abs(now - old) + std::abs(old)) + 1e-38};
        });
  return verdict;
}

/// Checks the first steps against double: the initial loss within its bound; later losses and the weights within the
/// divergence of trainings that round differently.
Verdict judge_start(const Cnn& problem, const Outputs& outputs, const Arithmetic& arithmetic) {
  Verdict verdict;
  const auto losses = outputs[Cnn::loss].values.values<const float>();
  const FirstSteps& right = problem.start().of(problem, arithmetic);
  for (std::size_t step = 0; step < right.losses.size(); ++step) {
    const double found = losses[step], loss = right.losses[step];
    const double bound = right.loss_bounds[step] + (step == 0 ? 0 : arithmetic.drift * loss);
    if (!(std::abs(found - loss) <= bound))
      verdict.fail("loss[" + std::to_string(step) + "] is " + all_digits(found) + ", expected " + all_digits(loss) +
                   " within " + all_digits(bound));
  }
  if (std::ssize(losses) - 1 > std::ssize(right.losses)) return verdict;
  const std::vector<double>& weights = right.weights;
  const auto initial = problem.initial.values<const float>();
  const auto before = outputs[Cnn::weights_before].values.values<const float>();
  double apart = 0, moved = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    apart += std::pow(before[i] - weights[i], 2);
    moved += std::pow(weights[i] - initial[i], 2);
  }
  if (!(std::sqrt(apart) <= arithmetic.drift_of(problem.optimizer) * std::sqrt(moved)))
    verdict.fail("weights_before: " + all_digits(std::sqrt(apart)) +
                 " away from those in double, which have changed by " + all_digits(std::sqrt(moved)));
  const auto state = outputs[Cnn::state_before].values.values<const float>();
  if (problem.steps == 1 && std::ranges::any_of(state, [](float value) { return value != 0; }))
    verdict.fail("state_before: not zeros before the first step");
  return verdict;
}

/// Checks the classes after the last epoch: some images individually, the total count.
Verdict judge_predictions(const Cnn& problem, const Outputs& outputs, const Arithmetic& arithmetic,
                          std::span<const std::int32_t> classes_found) {
  constexpr std::int64_t max_images = 128;
  Verdict verdict;
  const auto labels = problem.data.test_labels.values<const std::int32_t>();
  const auto correct = outputs[Cnn::correct].values.values<const std::int64_t>();
  const std::vector<double> weights = doubles_of(outputs[Cnn::weights].values.values<const float>());
  const auto images = static_cast<std::int64_t>(classes_found.size());
  std::int64_t right = 0;
  for (std::size_t i = 0; i < classes_found.size(); ++i) right += classes_found[i] == labels[i] ? 1 : 0;
  for (const std::int64_t count : correct)
    if (count < 0 || count > images)
      verdict.fail("correct: " + std::to_string(count) + " of " + std::to_string(images) + " test images");
  if (correct.back() != right)
    verdict.fail("correct: " + std::to_string(correct.back()) + ", but " + std::to_string(right) +
                 " of the predictions are right");
  const std::int64_t judged = std::min(images, max_images);
  for (std::int64_t i = 0; i < judged; ++i) {
    const std::int64_t at = i * images / judged;
    const std::int32_t found = classes_found[static_cast<std::size_t>(at)];
    const Logits logits =
        classify(weights, problem.data.test.values<const std::uint8_t>(at, at + 1), arithmetic, problem.network);
    const auto best = std::max_element(logits.values, logits.values + classes) - logits.values;
    if (found < 0 || found >= classes ||
        logits.values[found] + logits.bounds[found] < logits.values[best] - logits.bounds[best])
      verdict.fail("predictions[" + std::to_string(at) + "] is " + std::to_string(found) + ", expected " +
                   std::to_string(best));
    else if (found != best)
      ++verdict.ties;
  }
  verdict.figures.push_back({"accuracy", static_cast<double>(right), static_cast<double>(images)});
  verdict.curves.push_back({"accuracy", {correct.begin(), correct.end()}, static_cast<double>(images)});
  return verdict;
}

/// Checks inference: with the initial weights or, after a warm-up, with the variant's.
Verdict judge_inference(const Cnn& problem, const Outputs& outputs, const Arithmetic& arithmetic,
                        std::span<const std::int32_t> classes_found) {
  Verdict verdict;
  const auto weights = outputs[Cnn::weights].values.values<const float>();
  const auto initial = problem.initial.values<const float>();
  const bool unchanged = std::ranges::equal(weights, initial);
  if (unchanged != (problem.warm_up == 0))
    verdict.fail(unchanged ? "weights: unchanged by the warm-up" : "weights: not the initial ones");
  verdict += judge_predictions(problem, outputs, arithmetic, classes_found);
  verdict.rows_checked = static_cast<std::int64_t>(classes_found.size());
  return verdict;
}

}  // namespace

Verdict judge(const Cnn& problem, const Outputs& outputs, Reduce& reduce) {
  const Arithmetic arithmetic = Arithmetic::of(outputs[Cnn::gradient].form);
  Verdict verdict;
  judge_agreement(verdict, std::span(outputs).first(Cnn::gradient + 1), reduce);
  const auto pool = gather(outputs[Cnn::pool_decisions].values.values<const std::uint8_t>(), reduce, verdict,
                           "pool_decisions"),
             hidden_values = gather(outputs[Cnn::hidden_decisions].values.values<const std::uint8_t>(), reduce, verdict,
                                    "hidden_decisions");
  const auto predictions =
      gather(outputs[Cnn::predictions].values.values<const std::int32_t>(), reduce, verdict, "predictions");
  // No reductions from here on: a failed process may return.
  if (!problem.trains) return verdict.passed() ? judge_inference(problem, outputs, arithmetic, predictions) : verdict;
  const auto losses = outputs[Cnn::loss].values.values<const float>();
  for (std::size_t step = 0; step < losses.size(); ++step)
    if (!(losses[step] >= 0 && std::isfinite(losses[step])))
      verdict.fail("loss[" + std::to_string(step) + "] is " + all_digits(losses[step]));
  const auto before = outputs[Cnn::weights_before].values.values<const float>();
  const auto broken = std::ranges::find_if_not(before, [](float weight) { return std::isfinite(weight); });
  if (broken != before.end())
    verdict.fail("weights_before: " + place_of(problem.network, broken - before.begin()) + " is " +
                 all_digits(*broken));
  if (!verdict.passed()) return verdict;

  const std::int64_t last = problem.warm_up + problem.steps - 1;
  const Decisions decisions{pool, hidden_values};
  const Gradient gradient = differentiate(doubles_of(before), batch_of(problem, last, arithmetic), &decisions);
  if (!gradient.message.empty()) verdict.fail(gradient.message);
  const bool bounded = has_bounds(gradient);
  if (bounded) verdict += judge_gradient(problem, outputs, gradient, arithmetic);
  verdict += judge_update(problem, outputs);
  if (problem.warm_up == 0) verdict += judge_start(problem, outputs, arithmetic);
  if (!bounded)
    verdict.fail_problem("the training diverges: no bound is finite any more; take a smaller learning_rate");
  const std::int64_t images = problem.images_of(last);
  verdict.rows_checked = images;
  verdict.ties = gradient.ties;
  verdict.figures = {
      {"loss", losses.back()},
      {"live", static_cast<double>(gradient.live), static_cast<double>(images * problem.network.decisions())}};
  if (problem.evaluates && problem.data.test.rows() > 0)
    verdict += judge_predictions(problem, outputs, arithmetic, predictions);
  return verdict;
}

}  // namespace league::cnn
