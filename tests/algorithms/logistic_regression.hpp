// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "algorithms/logistic_regression/oracle.hpp"
#include "tests/algorithms/solved.hpp"
#include "tests/runtime.hpp"

/// Problems and solves for the tests of logistic regression.
namespace league::logistic::tests {

using league::tests::name_of;
using Settings = std::map<std::string, std::string, std::less<>>;
using Rows = std::vector<std::vector<double>>;

inline Making making(const Settings& settings, Dtype dtype, const std::string& problem = "") {
  Parameters parameters{{{"rows", "1000"},
                         {"features", "2"},
                         {"data", "generated"},
                         {"steps", "20"},
                         {"learning_rate", "0.1"},
                         {"l2", "0"},
                         {"tolerance", "0"}}};
  for (const auto& [key, value] : settings) parameters.values[key] = value;
  return {parameters, dtype, 1, nullptr, problem};
}

inline std::unique_ptr<LogisticRegression> make(const Settings& settings, Dtype dtype,
                                                const std::string& problem = "") {
  auto made = std::make_unique<LogisticRegression>(making(settings, dtype, problem));
  made->make_inputs({0, made->extent()}, league::tests::runtime().host_memory());
  return made;
}

/// In one process.
inline Evaluation evaluate(const LogisticRegression& problem, const Values& theta) {
  Reduce alone;
  return logistic::evaluate(problem, theta, alone);
}

/// On rows given one by one.
inline std::unique_ptr<LogisticRegression> make(const Rows& rows, const std::vector<int>& labels,
                                                const Settings& settings, Dtype dtype,
                                                const std::string& problem = "") {
  const auto count = static_cast<std::int64_t>(rows.size()), features = static_cast<std::int64_t>(rows[0].size());
  HostArray columns(league::tests::runtime().host_memory(), dtype, {features, count});
  HostArray classes(league::tests::runtime().host_memory(), Dtype::u8, {static_cast<std::int64_t>(labels.size())});
  for (std::int64_t i = 0; i < count; ++i)
    for (std::int64_t d = 0; d < features; ++d) {
      const auto at = static_cast<std::size_t>(d * count + i);
      const double value = rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(d)];
      if (dtype == Dtype::f64)
        columns.values<double>()[at] = value;
      else
        columns.values<float>()[at] = static_cast<float>(value);
    }
  std::ranges::transform(labels, classes.values<std::uint8_t>().begin(),
                         [](int label) { return static_cast<std::uint8_t>(label); });
  Settings all = settings;
  all["rows"] = std::to_string(count), all["features"] = std::to_string(features);
  auto made = std::make_unique<LogisticRegression>(making(all, dtype, problem));
  made->take_inputs(columns, classes);
  return made;
}

/// The variants that can run here, of the methods that solve this problem.
inline std::vector<const Variant*> variants(const std::string& problem) {
  return league::tests::variants<LogisticRegression>(league::tests::solving(problem));
}

struct Solved : league::tests::Solved {
  using league::tests::Solved::Solved;
  [[nodiscard]] std::vector<double> theta() const { return values(LogisticRegression::theta); }
  [[nodiscard]] std::vector<double> loss() const { return values(LogisticRegression::loss); }
  [[nodiscard]] std::int64_t steps() const { return values<std::int64_t>(LogisticRegression::steps_taken).front(); }
};

inline bool is_serial(const Variant& variant) { return variant.model.name == "serial"; }

/// Solves the problem by every variant of its methods, checks the results and passes them to `expect`.
inline void everywhere(const LogisticRegression& problem, const std::string& tag,
                       const std::function<void(const Variant&, const Solved&)>& expect) {
  for (const Variant* variant : variants(tag)) {
    SCOPED_TRACE(name_of(*variant) + " " + std::string(name(problem.dtype)));
    const Solved run(*variant, problem);
    const Verdict verdict = problem.check_alone(*run.outputs);
    EXPECT_TRUE(verdict.passed()) << verdict.message;
    expect(*variant, run);
  }
}

}  // namespace league::logistic::tests
