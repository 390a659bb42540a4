// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "bench/study/case.hpp"
#include "bench/study/settings.hpp"

namespace league::bench {

/// A value for each size of an algorithm.
using Point = std::vector<std::pair<std::string, std::int64_t>>;

struct Way {
  const Method* method;
  std::string model;
  Execution execution;
  bool operator==(const Way&) const = default;
};

/// A launch as the study names it.
struct WantedLaunch {
  Launch launch;
  LaunchSource source = LaunchSource::open;
};

/// The values of each key of a study, checked. All throw BadInput, naming file, line and key.
class Axes {
 public:
  explicit Axes(const Settings& settings) : settings_(settings) {}

  /// The value as written; null if the study leaves the key out.
  [[nodiscard]] const Value* find(std::string_view key) const;
  [[nodiscard]] std::vector<std::int64_t> integers(const std::string& key, std::vector<std::int64_t> default_values,
                                                   std::int64_t min, std::int64_t max) const;
  /// Words out of `choices`; the first of them if the key is absent.
  [[nodiscard]] std::vector<std::string> words(const std::string& key, const std::vector<std::string>& choices) const;
  /// Values of an algorithm's own parameter, as text.
  [[nodiscard]] std::vector<std::string> parameter(const Parameter& parameter) const;
  [[nodiscard]] std::vector<Dtype> dtypes() const;
  [[nodiscard]] std::vector<Point> sizes() const;
  /// One that is open, if the study does not name any.
  [[nodiscard]] std::vector<WantedLaunch> launches() const;
  [[nodiscard]] std::vector<Execution> executions() const;
  /// Whether any method has it, in any build.
  [[nodiscard]] bool has(Execution execution) const;
  /// The product of methods, models that each declares (if the study names none: those of this build) and executions.
  /// Renamed methods are reported in `notes`.
  [[nodiscard]] std::vector<Way> variants(const Runtime& runtime, std::vector<std::string>& notes) const;

 private:
  [[nodiscard]] const Algorithm& algorithm() const { return *settings_.algorithm; }
  [[nodiscard]] std::vector<Point> points(const Value& value) const;
  const Settings& settings_;
};

}  // namespace league::bench
