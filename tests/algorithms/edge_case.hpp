// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <map>
#include <string>

#include "bench/study/case.hpp"

namespace league::tests {

/// A case of one of an algorithm's `edge_cases`, `values`, on one device; of generated data where it needs a dataset.
inline bench::Case edge_case(const Algorithm& algorithm, const Method& method, Dtype dtype,
                             const std::map<std::string, std::string>& values) {
  bench::Case that{.algorithm = &algorithm, .method = &method, .model = "", .dtype = dtype};
  for (const Parameter& parameter : algorithm.parameters)
    that.parameters.values[parameter.name] = parameter.default_value;
  for (const auto& [key, value] : values) that.parameters.values[key] = value;
  if (algorithm.needs_dataset) {
    that.data.dataset = "generated";
    that.data.train = that.parameters.integer("train");
    that.data.test = that.parameters.integer("test");
    that.data.features = that.parameters.integer("features");
  }
  return that;
}

}  // namespace league::tests
