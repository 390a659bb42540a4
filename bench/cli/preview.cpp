// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/cli/preview.hpp"

#include <algorithm>
#include <iostream>

#include "algorithms/contract/budget.hpp"
#include "bench/measure/clock.hpp"
#include "bench/measure/comparison.hpp"
#include "bench/measure/memory_budget.hpp"
#include "bench/measure/null_test.hpp"
#include "bench/record/progress.hpp"
#include "bench/record/record.hpp"
#include "bench/study/models.hpp"
#include "bench/study/nearest.hpp"

namespace league::bench {
namespace {

/// Rough rates of a device, for an estimate only.
struct Rates {
  double bytes_per_s, operations_per_s;
};
Rates rates_of(const Runtime& runtime, DeviceKind kind) {
  if (kind == DeviceKind::gpu) return {1e12, 1e13};
  return {10e9, 10e9 * runtime.host_threads()};
}

/// Time of the check, the first timings, the samples and the checks after them, plus a constant each. With a precision,
/// only the first batch of samples counts.
double estimated_s(const Case& that, const Problem& problem, const Runtime& runtime) {
  const DeviceKind kind = device_kind(that);
  const Rates rates = rates_of(runtime, kind);
  const double run_s = std::max(problem.method_bytes(that.method->name) / rates.bytes_per_s,
                                problem.cost().operations / rates.operations_per_s);
  if (!that.repeats.empty() && run_s > max_null_test_s) return 0;
  const int samples = that.precision ? Stopping::first_batch : that.samples;
  const int runs = is_very_long(run_s) ? 1 + samples_for(samples, run_s) : 10 + 2 * samples;
  const int passes = 2 * (1 + samples_for(samples, run_s)) * static_cast<int>(that.end_to_end.size());
  return 0.05 + (runs + passes) * std::max(run_s, 1e-3);
}

/// What is known of a comparison once its problem is made.
struct Estimate {
  Result made;  ///< whether the problem can be made, as in a run
  std::unique_ptr<Problem> problem;
  std::int64_t bytes = 0;  ///< of the inputs and outputs
  double making_s = 0;
};
Estimate look_at(const Comparison& comparison, Runtime& runtime, Datasets& datasets) {
  Estimate estimate;
  const auto runs = std::ranges::find(comparison.cases, true, [](const Case& that) { return that.skip.empty(); });
  if (runs == comparison.cases.end()) return estimate;
  estimate.making_s = seconds_of([&] {
    const bool made = attempt(estimate.made, [&] {
      estimate.problem = make_problem(*runs, runtime, datasets);
      const Problem& problem = *estimate.problem;
      estimate.bytes = total_bytes(problem.inputs()) +
                       total_bytes(problem.make_outputs({0, problem.extent()}, *std::pmr::new_delete_resource()));
    });
    if (made) estimate.made.status = Status::passed;
  });
  return estimate;
}

/// What is foreseen of a case.
struct Foreseen {
  const Case& of;
  std::string status = "runs", reason{};  ///< status: "runs", "skipped", "FAILED"
  std::int64_t device_bytes = 0;
  double seconds = 0;
};
/// What is foreseen of a comparison.
struct ForeseenComparison {
  const Comparison& of;
  std::int64_t bytes = 0;  ///< of the inputs and outputs
  double seconds = 0;      ///< in all
  double more_s = 0;       ///< of these, at most, until the intervals of `samples = "auto"` are narrow
  std::vector<Foreseen> cases{};
};

Foreseen foresee(const Case& that, const Estimate& estimate, Runtime& runtime, std::optional<std::int64_t> given) {
  if (!that.skip.empty()) return {.of = that, .status = "skipped", .reason = that.skip};
  Foreseen seen{.of = that};
  Result found = estimate.made;
  if (found.status == Status::passed)
    attempt(found, [&] {
      const std::int64_t budget = memory_budget(runtime, device_kind(that), given, *estimate.problem);
      seen.device_bytes = needed_device_bytes(that, *estimate.problem, runtime, budget);
    });
  if (found.status == Status::passed) {
    seen.seconds = estimated_s(that, *estimate.problem, runtime);
    return seen;
  }
  seen.status = found.status == Status::failed ? "FAILED" : "skipped";
  seen.reason = found.reason;
  return seen;
}

ForeseenComparison foresee(const Comparison& comparison, Runtime& runtime, Datasets& datasets,
                           std::optional<std::int64_t> given) {
  const Estimate estimate = look_at(comparison, runtime, datasets);
  ForeseenComparison seen{.of = comparison, .bytes = estimate.bytes, .seconds = estimate.making_s};
  for (const Case& that : comparison.cases) {
    seen.cases.push_back(foresee(that, estimate, runtime, given));
    if (that.precision && seen.cases.back().status == "runs") seen.more_s = that.precision->time_limit_s;
    seen.seconds += seen.cases.back().seconds;
  }
  seen.seconds += seen.more_s;
  return seen;
}

void print_text(const ForeseenComparison& seen, std::ostream& out) {
  for (const Foreseen& that : seen.cases) {
    out << that.of.name << "  ";
    if (that.status != "runs") {
      out << that.status << ": " << that.reason << "\n";
      continue;
    }
    out << readable_bytes(seen.bytes);
    if (that.device_bytes > 0) out << ", " << readable_bytes(that.device_bytes) << " on a device";
    out << (that.of.precision ? "  from " : "  about ") << readable_time(that.seconds) << "\n";
  }
}

Json json_of(const ForeseenComparison& seen, const Runtime& runtime) {
  Json cases = Json::array();
  for (const Foreseen& that : seen.cases) {
    cases.push_back(case_json(that.of));
    cases.back().update({{"state", name(availability(runtime, that.of).state)},
                         {"status", that.status},
                         {"reason", that.reason},
                         {"device_bytes", that.device_bytes},
                         {"seconds", that.seconds}});
  }
  return {{"comparison", seen.of.name}, {"seconds", seen.seconds}, {"bytes", seen.bytes}, {"cases", cases}};
}

}  // namespace

ExitCode list_cases(const Study& study, std::ostream& out) {
  for (const Comparison& comparison : study.comparisons)
    for (const Case& that : comparison.cases) out << that.name << "\n";
  return ExitCode::passed;
}

ExitCode preview(const Study& study, Runtime& runtime, Datasets& datasets, std::ostream& out,
                 std::optional<std::int64_t> given, BenchmarkFlags::Format format) {
  double total_s = 0;
  std::size_t cases = 0;
  bool failed = false, limited = false;
  Json comparisons = Json::array();
  for (const Comparison& comparison : study.comparisons) {
    const ForeseenComparison seen = foresee(comparison, runtime, datasets, given);
    if (format == BenchmarkFlags::Format::json)
      comparisons.push_back(json_of(seen, runtime));
    else
      print_text(seen, out);
    total_s += seen.seconds;
    cases += seen.cases.size();
    limited |= seen.more_s > 0;
    failed |= std::ranges::find(seen.cases, "FAILED", &Foreseen::status) != seen.cases.end();
  }
  if (format == BenchmarkFlags::Format::json)
    out << text_of({{"study", study.title}, {"seconds", total_s}, {"comparisons", comparisons}}, 1) << "\n";
  else
    out << cases << " cases, " << (limited ? "at most about " : "about ") << readable_time(total_s) << "\n";
  return failed ? ExitCode::failed : ExitCode::passed;
}

Case replayable(Case that) {
  const bool local = that.communicator == "local" || that.communicator == "auto";
  if (local && that.devices > 1 && device_kind(that) == DeviceKind::gpu) that.communicator = "local_serialized";
  return that;
}

ExitCode profile(const Study& study, const std::string& name, Runtime& runtime, Datasets& datasets,
                 std::optional<std::int64_t> given) {
  std::vector<std::string> names;
  for (const Comparison& comparison : study.comparisons)
    for (const Case& that : comparison.cases) {
      names.push_back(that.name);
      if (that.name != name) continue;
      if (!that.skip.empty()) throw BadInput("--profile " + name + ": " + that.skip);
      const Case replayed = replayable(that);
      if (replayed.communicator != that.communicator)
        std::cerr << "league: --profile: communicator '" << replayed.communicator << "' in place of '"
                  << that.communicator << "': none of its kernels waits for another\n";
      const std::unique_ptr<Problem> problem = make_problem(that, runtime, datasets);
      PreparedCase prepared_case(replayed, *problem, runtime,
                                 memory_budget(runtime, device_kind(that), given, *problem));
      Stages stages;
      prepared_case.prepared().reset();
      prepared_case.prepared().fence();
      prepared_case.prepared().compute(stages);
      prepared_case.prepared().fence();
      return ExitCode::passed;
    }
  throw BadInput("--profile " + name + ": the study has no such case; the nearest is '" + nearest(name, names) + "'");
}

}  // namespace league::bench
