// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/record/metrics.hpp"

#include <algorithm>
#include <cmath>

namespace league::bench {

void add_value(std::vector<MetricValues>& metrics, const std::string& of, const MetricValue& value) {
  auto found = std::ranges::find(metrics, value.name, &MetricValues::name);
  if (found == metrics.end())
    found = metrics.insert(found, {.name = value.name, .unit = value.unit, .of = of, .marks = value.marks});
  found->values.push_back(value.value);
}

Json metrics_json(const std::vector<MetricValues>& metrics, std::size_t samples) {
  Json list = Json::array();
  for (const MetricValues& metric : metrics) {
    const bool whole = metric.of != "sample" || metric.values.size() == samples;
    if (!whole || !std::ranges::all_of(metric.values, [](double value) { return std::isfinite(value); })) continue;
    list.push_back({{"name", metric.name}, {"unit", metric.unit}, {"of", metric.of}, {"values", metric.values}});
    if (metric.marks) list.back()["marks"] = true;
  }
  return list;
}

}  // namespace league::bench
