// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "algorithms/cnn/cnn.hpp"
#include "algorithms/cnn/cnn_oracle.hpp"
#include "algorithms/oracle/generate.hpp"
#include "tests/algorithms/solved.hpp"
#include "tests/runtime.hpp"

/// Problems for the tests of the convolutional network, and the network in plain loops.
namespace league::cnn::tests {

using league::tests::has_devices, league::tests::name_of, league::tests::Solved;
using Values = std::map<std::string, std::string, std::less<>>;

/// All zero.
inline Dataset images_like(std::int64_t train, std::int64_t test, std::int64_t features = pixels,
                           Dtype dtype = Dtype::u8) {
  std::pmr::memory_resource& memory = league::tests::runtime().host_memory();
  Dataset data{HostArray(memory, dtype, {train, features}), HostArray(memory, Dtype::i32, {train}),
               HostArray(memory, dtype, {test, features}), HostArray(memory, Dtype::i32, {test}), classes};
  for (HostArray array : {data.train, data.train_labels, data.test, data.test_labels})
    std::ranges::fill(array.bytes(), std::byte{0});
  return data;
}

/// Random pixels and labels.
inline Dataset generated(std::int64_t train, std::int64_t test = 1, std::int64_t features = pixels) {
  Dataset data = images_like(train, test, features);
  fill_random(data.train.values<std::uint8_t>(), 5, 1);
  fill_random(data.test.values<std::uint8_t>(), 5, 2);
  std::uint64_t stream = 2;
  for (HostArray labels : {data.train_labels, data.test_labels}) {
    ++stream;
    for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(labels.size()); ++i)
      labels.values<std::int32_t>()[i] = static_cast<std::int32_t>(random_below(classes, 5, stream, i));
  }
  return data;
}

/// A problem with its inputs, with defaults for missing parameters. The default batch: up to 64 images.
inline std::unique_ptr<Cnn> make(const Dataset& data, const Values& values = {}, std::uint64_t seed = 1) {
  Parameters parameters;
  for (const Parameter& one : registry().algorithm(Cnn::algorithm)->parameters)
    parameters.values[one.name] = one.default_value;
  const std::int64_t images = std::clamp<std::int64_t>(data.train.rows(), 1, 64);
  parameters.values["batch"] = std::to_string(images);
  for (const auto& [key, value] : values) parameters.values[key] = value;
  auto problem = std::make_unique<Cnn>(Making{parameters, Dtype::f32, seed, &data, ""});
  problem->make_inputs({0, problem->extent()}, league::tests::runtime().host_memory());
  return problem;
}

template <class T>
std::span<T> values_of(Outputs& outputs, Cnn::Output output) {
  return outputs[output].values.values<T>();
}

inline const Variant& reference() { return *registry().variant(Cnn::algorithm, "direct", "serial"); }

/// The batch of one step.
inline Batch batch_of(const Cnn& problem, std::int64_t step) {
  return {problem.data.train.values<const std::uint8_t>(),
          problem.data.train_labels.values<const std::int32_t>(),
          problem.order_of(step),
          step,
          problem.dropout,
          {},
          &problem.network};
}

inline std::vector<double> doubles_of(std::span<const float> values) { return {values.begin(), values.end()}; }
inline std::vector<double> initial_of(const Cnn& problem) { return doubles_of(problem.initial.values<const float>()); }

/// The network on one image, in plain loops in double.
struct Plain {
  std::vector<std::uint8_t> pool, hidden;         ///< decisions
  std::vector<double> pool_margins, hidden_sums;  ///< distance of a window from another decision; values before ReLU
  double loss = 0;

  /// The window, or hidden value, with the clearest decision.
  [[nodiscard]] std::size_t clearest_window() const {
    return static_cast<std::size_t>(std::ranges::max_element(pool_margins) - pool_margins.begin());
  }
  [[nodiscard]] std::size_t clearest_hidden() const {
    const auto size = [](double sum) { return std::abs(sum); };
    return static_cast<std::size_t>(std::ranges::max_element(hidden_sums, {}, size) - hidden_sums.begin());
  }
};

/// Zero-based convolution of `inputs` planes of side `from`, at (y, x) of output channel `o`.
inline double convolved(std::span<const double> w, int biases, int weights, const std::vector<double>& planes,
                        int inputs, int from, int o, int y, int x) {
  double sum = w[static_cast<std::size_t>(biases + o)];
  for (int c = 0; c < inputs; ++c)
    for (int t = 0; t < taps; ++t)
      sum += w[static_cast<std::size_t>(weights + (o * inputs + c) * taps + t)] *
             planes[static_cast<std::size_t>((c * from + y + t / 3) * from + x + t % 3)];
  return sum;
}

/// `position`: of the image in its batch.
inline Plain plain(std::span<const double> w, const Batch& batch, std::int64_t position) {
  const auto number = static_cast<std::size_t>(batch.order[static_cast<std::size_t>(position)]);
  std::vector<double> x, a1, p, h;
  for (const std::uint8_t grey : batch.images.subspan(number * pixels, pixels)) x.push_back(pixel<float>(grey));
  for (int c = 0; c < channels1; ++c)
    for (int at = 0; at < side1 * side1; ++at)
      a1.push_back(std::max(convolved(w, conv1_biases, conv1_weights, x, 1, side, c, at / side1, at % side1), 0.0));
  const auto word = [&](int at) { return batch.dropout.word(batch.step, position, at); };
  Plain found;
  for (int k = 0; k < pooled; ++k) {
    const int o = k / windows, top = k % windows / pooled_side * 2, left = k % pooled_side * 2;
    double values[4];
    for (int place = 0; place < 4; ++place)
      values[place] =
          convolved(w, conv2_biases, conv2_weights, a1, channels1, side1, o, top + place / 2, left + place % 2);
    const auto best = static_cast<int>(std::max_element(values, values + 4) - values);
    found.pool.push_back(Decision::of(best, values[best] > 0));
    double margin = std::abs(values[best]);
    for (int place = 0; place < 4; ++place)
      if (place != best) margin = std::min(margin, values[best] - values[place]);
    found.pool_margins.push_back(margin);
    const bool kept = Dropout::keeps_pooled(word(k / 32), k);
    p.push_back(kept ? batch.dropout.pooled_scale<double>() * std::max(values[best], 0.0) : 0);
  }
  for (int j = 0; j < hidden; ++j) {
    double sum = w[static_cast<std::size_t>(fc1_biases + j)];
    for (int k = 0; k < pooled; ++k)
      sum += w[static_cast<std::size_t>(fc1_weights + j * pooled + k)] * p[static_cast<std::size_t>(k)];
    found.hidden.push_back(sum > 0 ? 1 : 0);
    found.hidden_sums.push_back(sum);
    const bool kept = Dropout::keeps_hidden(word(Dropout::pooled_words + j / 64), j);
    h.push_back(kept ? batch.dropout.hidden_scale<double>() * std::max(sum, 0.0) : 0);
  }
  double logits[classes], all = 0;
  for (int c = 0; c < classes; ++c) {
    logits[c] = w[static_cast<std::size_t>(fc2_biases + c)];
    for (int j = 0; j < hidden; ++j)
      logits[c] += w[static_cast<std::size_t>(fc2_weights + c * hidden + j)] * h[static_cast<std::size_t>(j)];
    all += std::exp(logits[c]);
  }
  found.loss = std::log(all) - logits[batch.labels[number]];
  return found;
}

/// Expects derivative `i` of the batch's gradient, of a tensor, to be the central difference of the loss.
inline void expect_derivative(const Gradient& gradient, std::vector<double>& weights, const Batch& batch, std::size_t i,
                              int tensor) {
  constexpr double step = 1e-6;
  const double there = weights[i];
  weights[i] = there + step;
  const double above = evaluate(weights, batch).loss;
  weights[i] = there - step;
  const double below = evaluate(weights, batch).loss;
  weights[i] = there;
  EXPECT_NEAR((above - below) / (2 * step), gradient.values[i], 1e-8) << "parameter " << i << " of " << tensor;
}

}  // namespace league::cnn::tests
