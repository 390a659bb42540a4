// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <iostream>
#include <sstream>

#include "backends/model.hpp"
#include "bench/cli/preview.hpp"
#include "bench/files.hpp"
#include "bench/measure/comparison.hpp"
#include "bench/measure/memory_budget.hpp"
#include "bench/measure/step_trace.hpp"
#include "bench/study/models.hpp"

namespace league::bench {
namespace {

/// The only case that is no null test, as it is traced. @throws BadInput
Case traceable(const Study& study) {
  std::vector<const Case*> cases;
  for (const Comparison& comparison : study.comparisons)
    for (const Case& that : comparison.cases)
      if (that.repeats.empty()) cases.push_back(&that);
  if (cases.size() != 1)
    throw BadInput("--trace-steps takes one case, not " + std::to_string(cases.size()) +
                   ": choose it with --benchmark_filter, as '" + cases.front()->name + "'");
  Case that = *cases.front();
  if (!that.skip.empty()) throw BadInput("--trace-steps " + that.name + ": " + that.skip);
  if (model_facts(that.model) == nullptr)
    throw BadInput("--trace-steps " + that.name + ": a peer's steps are not League's to trace");
  const Variant* variant = registry().variant(that.algorithm->name, that.method->name, that.model);
  if (that.execution == Execution::stream) return that;
  if (std::ranges::find(variant->executions, Execution::stream) == variant->executions.end())
    throw BadInput("--trace-steps " + that.name + ": has no steps outside of a graph");
  std::cerr << "league: --trace-steps: execution stream in place of " << name(that.execution)
            << ": the steps of a graph cannot be told apart\n";
  that.execution = Execution::stream;
  return that;
}

/// What a reader of the trace needs to know; SimGrid skips it.
std::string head_of(const Case& that, const PreparedCase& prepared_case) {
  std::ostringstream head;
  head << "# League: time-independent trace of one compute, for SimGrid's smpirun -replay; times in ns\n"
       << "# case " << that.name << "\n"
       << "# device " << prepared_case.runtime().info(prepared_case.shards().front().device).name << "\n"
       << "# rows";
  for (const Shard& shard : prepared_case.shards()) head << " " << shard.rows.size();
  head << "\n";
  return head.str();
}

}  // namespace

ExitCode trace_steps(const Study& study, const std::filesystem::path& file, Runtime& runtime, Datasets& datasets,
                     std::optional<std::int64_t> given) {
  const Case that = traceable(study);
  const std::unique_ptr<Problem> problem = make_problem(that, runtime, datasets);
  StepTrace trace;
  PreparedCase prepared_case(that, *problem, runtime, memory_budget(runtime, device_kind(that), given, *problem),
                             {.trace = &trace});
  Prepared& prepared = prepared_case.prepared();
  Stages unmarked;
  prepared.reset();
  if (!prepared.timing().reset_each) prepared.compute(unmarked);  // as warm as samples are
  prepared.fence();
  trace.start();
  prepared.compute(trace);
  prepared.fence();
  std::ostringstream lines;
  trace.write(lines);
  write_whole(file, head_of(that, prepared_case), lines.str());
  return ExitCode::passed;
}

}  // namespace league::bench
