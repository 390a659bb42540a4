// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "algorithms/oracle/generate.hpp"
#include "algorithms/softmax_regression/oracle.hpp"
#include "tests/algorithms/solved.hpp"
#include "tests/runtime.hpp"

/// Problems and solves for the tests of softmax regression.
namespace league::softmax_regression::tests {

using league::tests::has_devices, league::tests::name_of, league::tests::Solved;
using Values = std::map<std::string, std::string, std::less<>>;

/// Rows of random numbers: pixels, or floats from -size / 2 to size / 2.
inline Dataset generated(std::int64_t train, std::int64_t test, std::int64_t features, int classes, Dtype dtype,
                         float size = 1) {
  std::pmr::memory_resource& memory = league::tests::runtime().host_memory();
  Dataset data{HostArray(memory, dtype, {train, features}), HostArray(memory, Dtype::i32, {train}),
               HostArray(memory, dtype, {test, features}), HostArray(memory, Dtype::i32, {test}), classes};
  std::uint64_t stream = 0;
  for (HostArray array : {data.train, data.test}) {
    ++stream;
    if (dtype == Dtype::u8) fill_random(array.values<std::uint8_t>(), 5, stream);
    if (dtype == Dtype::f32) {
      fill_random(array.values<float>(), 5, stream);
      for (float& value : array.values<float>()) value *= size;
    }
  }
  for (HostArray labels : {data.train_labels, data.test_labels}) {
    ++stream;
    for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(labels.size()); ++i)
      labels.values<std::int32_t>()[i] =
          static_cast<std::int32_t>(random_below(static_cast<std::uint64_t>(classes), 5, stream, i));
  }
  return data;
}

inline std::unique_ptr<SoftmaxRegression> make(const Dataset& data, Dtype dtype, const Values& values = {}) {
  Parameters parameters{{{"steps", "5"}, {"batch", "0"}, {"learning_rate", "0.05"}, {"l2", "0"}}};
  for (const auto& [key, value] : values) parameters.values[key] = value;
  std::pmr::memory_resource& memory = league::tests::runtime().host_memory();
  auto problem = std::make_unique<SoftmaxRegression>(Making{parameters, dtype, 1, &data, ""});
  problem->make_inputs({0, problem->extent()}, memory);
  return problem;
}

/// In one process.
inline Evaluation evaluate(const SoftmaxRegression& problem, Rows rows, const std::vector<double>& theta,
                           const std::vector<double>& direction = {}) {
  Reduce alone;
  return softmax_regression::evaluate(problem, rows, theta, direction, alone);
}

inline std::vector<double> random_theta(const SoftmaxRegression& problem, double size) {
  std::vector<double> theta(static_cast<std::size_t>((problem.features + 1) * problem.classes));
  for (std::size_t i = 0; i < theta.size(); ++i) theta[i] = size * random_value<double>(9, 0, i);
  return theta;
}

inline std::vector<const Variant*> variants() { return league::tests::variants<SoftmaxRegression>(); }

/// Whether `dual` must run: on one device, with rows that fit in the scratch memory of every model.
inline bool dual_runs(const SoftmaxRegression& problem, int devices) {
  return devices == 1 && problem.extent() * problem.classes <= 600;
}

/// Whether `persistent` must run: on one device, with few features and classes.
inline bool persistent_runs(const SoftmaxRegression& problem, int devices) {
  return devices == 1 && problem.features <= 15 && problem.classes <= 10;
}

/// Runs every variant that supports the problem's type, twice.
inline void everywhere(const SoftmaxRegression& problem, const std::vector<int>& device_counts = {1}) {
  for (const Variant* variant : league::tests::variants<SoftmaxRegression>(league::tests::taking(problem.dtype)))
    for (const int devices : device_counts) {
      if (!has_devices(*variant, devices)) continue;
      SCOPED_TRACE(name_of(*variant) + " " + std::string(name(problem.dtype)) + " devices " + std::to_string(devices));
      if (variant->method == "dual" && !dual_runs(problem, devices)) continue;
      if (variant->method == "persistent" && !persistent_runs(problem, devices)) continue;
      Solved run(*variant, problem, {.devices = devices});
      const std::vector<double> first = run.values(SoftmaxRegression::theta);
      run.again();
      const Verdict verdict = problem.check_alone(*run.outputs);
      EXPECT_TRUE(verdict.passed()) << verdict.message;
      EXPECT_EQ(run.values(SoftmaxRegression::theta), first) << "two solves in a row differ";
    }
}

}  // namespace league::softmax_regression::tests
