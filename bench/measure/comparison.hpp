// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "bench/data/dataset.hpp"
#include "bench/measure/outcome.hpp"
#include "bench/measure/sampling.hpp"
#include "bench/measure/shared_problem.hpp"

namespace league::bench {

/// What the comparisons of a run share.
struct RunContext {
  Runtime& runtime;
  Datasets& datasets;
  Sampler& sampler;
  std::optional<std::int64_t> device_memory_bytes;  ///< the budget; else nine tenths of what is free
  std::function<void()> check_interrupt;            ///< throws Interrupted
  std::function<void(const Case&, const std::string& doing)> announce;
  std::function<void(const Case&, const Problem&, const Outputs&)> save;     ///< results that passed
  std::function<void(const Comparison&)> expect = [](const Comparison&) {};  ///< announces what is run next
  std::function<void()> settle = [] {};  ///< waits for what others prepare in the background
};

/// Adds the cost of the problem and the traffic of the method.
void count_cost(Result& result, const Problem& problem);

/// Checks all cases, samples them in turn, checks them again. Cases are prepared together as far as they fit into
/// memory. An error in one of them becomes its result. @throws Interrupted
std::vector<Result> run_comparison(const Comparison& comparison, const RunContext& run);

}  // namespace league::bench
