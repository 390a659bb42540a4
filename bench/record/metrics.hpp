// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

#include "backends/metric.hpp"
#include "bench/json.hpp"

namespace league::bench {

/// All values of a metric of one case.
struct MetricValues {
  std::string name, unit;
  std::string of;  ///< what a value belongs to: `sample` (one for each, in their order) or `launch` of the program
  bool marks = false;
  std::vector<double> values{};
};

/// Appends a value to the metric of its name, which is added if it is new.
void add_value(std::vector<MetricValues>& metrics, const std::string& of, const MetricValue& value);

/// The metrics of a case of so many samples. A metric that could not be read beside each sample is left out.
Json metrics_json(const std::vector<MetricValues>& metrics, std::size_t samples);

}  // namespace league::bench
