// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/tune/variant.hpp"

#include <algorithm>
#include <optional>

#include "bench/errors.hpp"
#include "bench/measure/clock.hpp"
#include "bench/measure/comparison.hpp"
#include "bench/measure/memory_budget.hpp"
#include "bench/measure/memory_limit.hpp"
#include "bench/record/progress.hpp"
#include "bench/study/models.hpp"
#include "bench/tune/trial.hpp"

namespace league::bench {
namespace {

Result result_of(const Case& that, const Candidate& candidate, const Runtime& runtime) {
  Result result{.of = that, .status = candidate.status, .reason = candidate.reason};
  result.of.launch = candidate.requested;
  result.of.launch_source = candidate.requested == Launch{} ? LaunchSource::automatic : LaunchSource::given;
  give_names(result.of);
  result.samples = candidate.samples;
  result.launch = candidate.effective;
  result.verdict = candidate.verdict;
  result.device_name = runtime.info({device_kind(that), 0}).name;
  return result;
}

TunedEntry entry_of(const Case& that, const Searched& found) {
  const auto count = [&](Status status) {
    return static_cast<int>(std::ranges::count(found.candidates, status, &Candidate::status));
  };
  const Candidate& automatic = found.candidates.front();
  const Candidate& best = found.candidates[found.best];
  TunedEntry entry{.key = key_of(that), .search = {}, .skipped = {}};
  if (automatic.status == Status::skipped) entry.skipped = automatic.reason;
  if (!found.passed()) return entry;
  entry.automatic = automatic.effective;
  entry.automatic_s = median(automatic.samples);
  entry.best = best.requested;
  entry.best_s = median(best.samples);
  entry.refused = count(Status::skipped);
  entry.failed = count(Status::failed);
  entry.candidates = static_cast<int>(found.candidates.size()) - entry.refused;
  return entry;
}

/// The result of `run`; where the variant cannot be prepared, one candidate with the reason.
template <class Run>
Searched guarded(const Run& run) {
  const auto only = [](Status status, const std::string& reason) {
    return Searched{{{.requested = {}, .effective = {}, .status = status, .reason = reason}}};
  };
  try {
    return run();
  } catch (const Interrupted&) {
    throw;
  } catch (const Unsupported& reason) {
    return only(Status::skipped, reason.what());
  } catch (const std::bad_alloc& error) {
    return only(Status::skipped, out_of_host_memory(error));
  } catch (const std::exception& error) {
    return only(Status::failed, error.what());
  }
}

}  // namespace

std::string TunedVariant::line() const {
  const Result& automatic = results.front();
  std::string name = automatic.of.name;
  name.resize(name.rfind("/launch:"));
  if (automatic.status == Status::failed) return "FAILED  " + name + ": " + automatic.reason;
  if (automatic.status == Status::skipped) return "skipped " + name + ": " + automatic.reason;
  std::string counts = " (" + std::to_string(entry.candidates) + " tried";
  if (entry.refused > 0) counts += ", " + std::to_string(entry.refused) + " refused";
  if (entry.failed > 0) counts += ", " + std::to_string(entry.failed) + " FAILED";
  counts += ")";
  if (best == 0) return "tuned   " + name + "  automatic stays: " + readable_sample(entry.automatic_s) + counts;
  return "tuned   " + name + "  " + label(entry.best) + ": " + readable_sample(entry.best_s) + ", automatic " +
         readable_sample(entry.automatic_s) + counts;
}

TunedVariant tune_variant(const Case& that, const std::function<const Problem&()>& problem, Runtime& runtime,
                          const Options& options, const std::function<void(const Launch&)>& before_each) {
  const DeviceKind kind = device_kind(that);
  std::optional<PreparedCase> prepared_case;
  std::optional<VariantTrial> trial;
  const Searched found = guarded([&] {
    const Problem& made = problem();
    prepared_case.emplace(that, made, runtime, memory_budget(runtime, kind, options.device_memory_bytes, made));
    trial.emplace(*prepared_case, before_each);
    const Grid grid = make_grid(kind, units_of(runtime, prepared_case->shards().front().device));
    return search(*trial, grid, options.budget, that.samples);
  });
  TunedVariant variant{.results = {}, .best = found.best, .entry = entry_of(that, found)};
  for (const Candidate& candidate : found.candidates) {
    Result& result = variant.results.emplace_back(result_of(that, candidate, runtime));
    if (prepared_case) count_cost(result, prepared_case->problem());
    if (!trial || !trial->was_timed()) continue;
    result.metric = trial->metric();
    result.held = trial->held();
    result.batch = trial->batch();
  }
  return variant;
}

Json tuning_record(const Json& context, const std::string& comparison, const std::vector<TunedVariant>& variants,
                   double seconds) {
  std::vector<Result> results;
  std::vector<bool> best;
  for (const TunedVariant& variant : variants)
    for (std::size_t i = 0; i < variant.results.size(); ++i) {
      results.push_back(variant.results[i]);
      best.push_back(i == variant.best && variant.results[i].status == Status::passed);
    }
  Json record = make_record(context, comparison, results, seconds);
  for (std::size_t i = 0; i < results.size(); ++i) {
    Json& row = record["benchmarks"][i];
    row["tuning"] = true;
    if (best[i]) row["best"] = true;
  }
  return record;
}

}  // namespace league::bench
