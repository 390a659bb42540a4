// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/measure/comparison.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <span>

#include "backends/host_limits.hpp"
#include "backends/model.hpp"
#include "bench/errors.hpp"
#include "bench/measure/case_end_to_end.hpp"
#include "bench/measure/case_energy.hpp"
#include "bench/measure/diagnosed.hpp"
#include "bench/measure/kernels.hpp"
#include "bench/measure/known_results.hpp"
#include "bench/measure/memory.hpp"
#include "bench/measure/memory_budget.hpp"
#include "bench/measure/null_test.hpp"
#include "bench/measure/peer_stages.hpp"
#include "bench/measure/placements.hpp"
#include "bench/ranks/together.hpp"
#include "bench/study/models.hpp"

namespace league::bench {
namespace {

bool judge(Result& result, const Verdict& verdict, const std::string& when, PreparedCase& prepared_case) {
  if (result.verdict.rows_checked == 0 || !verdict.passed()) result.verdict = verdict;
  if (verdict.passed()) return true;
  auto* diagnosed = verdict.ill_posed ? nullptr : dynamic_cast<Diagnosed*>(&prepared_case.prepared());
  conclude(result, Status::failed,
           "wrong " + when + ": " + fault_of(verdict) + (diagnosed == nullptr ? "" : diagnosed->diagnosis()));
  return false;
}

/// Runs one comparison, group after group.
class ComparisonRun {
 public:
  ComparisonRun(const Comparison& comparison, const RunContext& run) : run_(run) {
    for (const Case& that : comparison.cases) {
      results_.push_back({.of = that, .reason = that.skip});
      if (!that.skip.empty()) continue;
      const DeviceKind kind = device_kind(that);
      results_.back().device_name = run.runtime.info({kind, 0}).name;
    }
    run.expect(comparison);
    ranks().broadcast(std::as_writable_bytes(std::span(&seed_, 1)), 0);
    for (Result& result : results_)
      if (result.of.repeats.empty() && result.of.skip.empty())
        waiting_.push_back(&result);
      else if (!result.of.repeats.empty())
        null_ = &result;
    if (null_ != nullptr) null_->reason = "the case that it repeats did not pass its check";
  }

  std::vector<Result> run() {
    if (!waiting_.empty() && make()) {
      set_budgets();
      for (int group = 0; !waiting_.empty(); ++group) run_group(group);
      // Last: how many steps a solve with a tolerance takes is known once one is checked.
      for (Result& result : results_)
        if (result.of.skip.empty()) count_cost(result, *problem_);
    }
    return std::move(results_);
  }

 private:
  [[nodiscard]] Ranks& ranks() const { return run_.runtime.ranks(); }
  bool attempt_here(Result& result, const std::function<void()>& step) { return attempt(result, step, ranks()); }
  bool make() {
    Result& first = *waiting_.front();
    if (attempt_here(first, [&] { problem_ = make_problem(first.of, run_.runtime, run_.datasets); })) return true;
    for (Result* result : waiting_) {
      result->verdict = first.verdict;
      conclude(*result, first.status, first.reason);
    }
    return false;
  }

  /// One budget for all cases of a kind of device, fixed before any of them takes memory. A case whose device does not
  /// answer fails.
  void set_budgets() {
    std::erase_if(waiting_, [this](Result* result) {
      const DeviceKind kind = device_kind(result->of);
      return !budgets_.contains(kind) && !attempt_here(*result, [&] {
        budgets_[kind] = memory_budget(run_.runtime, kind, run_.device_memory_bytes, *problem_);
      });
    });
  }

  /// Opens as many cases as fit into memory together, and samples them in turn.
  void run_group(int number) {
    std::vector<Ready> group;
    MemoryWatch memory(run_.runtime);
    while (!waiting_.empty()) {
      Result& result = *waiting_.front();
      result.group = number;
      const std::vector<Device> devices = devices_of(run_.runtime, result.of);
      if (!group.empty() && !every_rank(ranks(), memory.has_room(devices))) break;
      run_.check_interrupt();
      Ready ready{&result, nullptr, nullptr};
      memory.before(devices);
      if (attempt_here(result, [&] { open(ready); })) {
        if (ready.meter) group.push_back(std::move(ready));
      } else if (!group.empty() && memory.is_exhausted(result.reason)) {
        break;  // tried again in the next group
      }
      memory.after(devices);
      waiting_.erase(waiting_.begin());
    }
    open_null_test(group, memory);
    open_placements(
        group,
        [this](Ready& ready, const std::function<void()>& step) {
          run_.check_interrupt();
          run_.announce(ready.result->of, "checks another placement");
          return attempt_here(*ready.result, step);
        },
        [this](const Case& of) { return budgets_.at(device_kind(of)); });
    sample(group);
    for (Ready& ready : group) attempt_here(*ready.result, [&] { measure_energy(ready); });
    for (Ready& ready : group) attempt_here(*ready.result, [&] { check_again(ready); });
    for (Ready& ready : group) add_kernels(*ready.result, *ready.prepared_case);
    measure_end_to_end(group);
  }

  /// The null test is sampled in turn with the case that it repeats, or not at all.
  void open_null_test(std::vector<Ready>& group, const MemoryWatch& memory) {
    const auto repeated = std::ranges::find_if(
        group, [this](const Ready& ready) { return null_ != nullptr && ready.result->of.name == null_->of.repeats; });
    if (repeated == group.end()) return;
    repeated_ = repeated->result;
    null_->group = repeated_->group;
    if (repeated->meter->expected_s() > max_null_test_s)
      return conclude(*null_, Status::skipped, "one compute takes over a second: too long to be measured twice");
    std::vector<Device> devices;
    for (const Shard& shard : repeated->prepared_case->shards()) devices.push_back(shard.device);
    if (!every_rank(ranks(), memory.has_room(devices)))
      return conclude(*null_, Status::skipped, "no memory for it beside the case that it repeats");
    run_.check_interrupt();
    Ready ready{null_, nullptr, nullptr};
    if (attempt_here(*null_, [&] { open(ready); }) && ready.meter) group.push_back(std::move(ready));
  }

  void open(Ready& ready) {
    Result& result = *ready.result;
    run_.announce(result.of, "checks");
    ready.breaks = ranks().breaks();
    limit_data_size();
    ready.prepared_case = std::make_unique<PreparedCase>(
        result.of, *problem_, run_.runtime, budgets_.at(device_kind(result.of)), Preparation{.known = &known_});
    result.launch = ready.prepared_case->launch();
    result.launch_note = ready.prepared_case->launch_note();
    const Checked checked = check_traced(*ready.prepared_case, result.trace);
    if (!judge(result, checked.verdict, "before sampling", *ready.prepared_case)) return;
    ready.inspector = std::make_unique<Inspector>(*ready.prepared_case, seed_++);
    result.engines = ready.prepared_case->communicator().taken();
    const bool null_test = !result.of.repeats.empty();
    if (!null_test) run_.save(result.of, *problem_, *checked.outputs);
    run_.settle();
    ready.meter = std::make_unique<Meter>(*ready.prepared_case, checked.compute_s);
    if (!is_very_long(checked.compute_s)) result.trace = ready.meter->trace();
    if (null_test) result.trace.timeline.clear();  // that of the repeated case is recorded
    result.trace.stages["upload"] = ready.prepared_case->upload_s();
    result.trace.stages["download"] = checked.download_s;
    result.latency_s = ready.meter->latency_s();
    result.metric = ready.meter->metric();
    if (auto* peer = dynamic_cast<SelfTimed*>(&ready.prepared_case->prepared())) take_stages(result, *peer);
  }

  /// @throws std::runtime_error if the communicators of the case were lost meanwhile
  void require_unbroken(const Ready& ready) const {
    if (ready.breaks != ranks().breaks())
      throw std::runtime_error("a rank has failed in another case, which ends what was prepared beside it");
  }

  void sample(std::vector<Ready>& group) {
    choose_batches(group);
    const bool has_null = !group.empty() && group.back().result == null_;
    if (has_null && repeated_->batch > 0) null_->batch = repeated_->batch;
    Stopping stopping(group.empty() ? std::nullopt : group.front().result->of.precision);
    std::vector<Draw> draws;
    for (Ready& ready : group) {
      ready.result->readings_before = run_.runtime.readings(ready.prepared_case->shards().front().device);
      const auto draw = [&ready, this] {
        run_.check_interrupt();
        run_.announce(ready.result->of, "samples");
        double seconds = 0;
        together(ranks(), [&] {
          require_unbroken(ready);
          seconds = ready.sample();
        });
        return seconds;
      };
      draws.push_back({ready.result->of.name, ready.max_samples(), draw, ready.placements()});
    }
    const std::vector<Drawn> drawn = run_.sampler.sample(draws, ranks(), stopping);
    for (std::size_t i = 0; i < group.size(); ++i) {
      Result& result = *group[i].result;
      result.samples = drawn[i].samples;
      result.placements = drawn[i].placements;
      result.stopped = stopping.reason();
      result.held = group[i].held();
      result.begin_skew_s = group[i].meter->begin_skew_s();
      result.readings_after = run_.runtime.readings(group[i].prepared_case->shards().front().device);
      if (drawn[i].error.empty())
        conclude(result, Status::passed, "");
      else
        conclude(result, Status::failed, drawn[i].error);
    }
  }

  void measure_energy(Ready& ready) {
    Result& result = *ready.result;
    if (result.status != Status::passed || !result.of.energy || !result.of.repeats.empty()) return;
    run_.announce(result.of, "measures energy");
    result.energy = energy_of_case(*ready.prepared_case, *ready.meter, run_.check_interrupt);
  }

  /// Peers in the processes that they have; all others prepared anew, once the memory of the whole group is free.
  void measure_end_to_end(std::vector<Ready>& group) {
    EndToEndTimes times(*problem_, run_.runtime, run_.datasets);
    const auto each = [&](bool peers, const auto& measure) {
      for (Ready& ready : group) {
        Result& result = *ready.result;
        const bool wanted =
            result.status == Status::passed && result.of.repeats.empty() && !result.of.end_to_end.empty();
        if (!wanted || (model_facts(result.of.model) == nullptr) != peers) continue;
        run_.announce(result.of, "measures from host to host");
        attempt_here(result, [&] { result.end_to_end = measure(ready); });
        if (result.status != Status::passed) result.end_to_end.clear();
      }
    };
    const auto check_of = [this](Result& result) {
      return [this, &result](PreparedCase& passed) {
        judge(result, check_left(passed, *problem_).verdict, "from host to host", passed);
      };
    };
    each(true, [&](Ready& ready) {
      return times.of_peer(*ready.prepared_case, run_.check_interrupt, check_of(*ready.result));
    });
    for (Ready& ready : group)  // processes end side by side: each returns gigabytes of locked memory
      if (auto* peer = dynamic_cast<SelfTimed*>(&ready.prepared_case->prepared())) peer->stop();
    for (Ready& ready : group) {
      ready.others.clear();
      ready.meter.reset();
      ready.prepared_case.reset();
    }
    each(false, [&](Ready& ready) {
      const Case& of = ready.result->of;
      return times.of_case(of, budgets_.at(device_kind(of)), run_.check_interrupt, check_of(*ready.result));
    });
  }

  void check_again(Ready& ready) {
    if (ready.result->status != Status::passed) return;
    run_.announce(ready.result->of, "checks again");
    require_unbroken(ready);
    Stages stages;
    const Checked left = check_left(*ready.prepared_case);
    ready.result->counts = left.counts;
    if (!judge(*ready.result, left.verdict, "after sampling", *ready.prepared_case)) return;
    check_placements(ready);
    ready.finish();
    if (!ready.meter->is_long())
      judge(*ready.result, check_fresh(*ready.prepared_case, stages).verdict, "when run again", *ready.prepared_case);
  }

  const RunContext& run_;
  std::vector<Result> results_;
  std::vector<Result*> waiting_;
  Result* null_ = nullptr;                       ///< the null test; not among those that wait
  const Result* repeated_ = nullptr;             ///< what it repeats, once that has passed its check
  std::uint64_t seed_ = std::random_device()();  ///< of the inspectors: what they choose cannot be foreseen
  std::map<DeviceKind, std::int64_t> budgets_;
  std::unique_ptr<Problem> problem_;
  KnownResults known_;  ///< of `problem_`
};

}  // namespace

void count_cost(Result& result, const Problem& problem) {
  result.cost = problem.cost();
  const std::string& method = result.of.method->name;
  result.method_bytes = problem.method_bytes(method);
  result.method_operations = problem.method_operations(method);
  result.method_unit = problem.method_unit(method);
  result.best_operations = problem.method_operations("");
}

std::vector<Result> run_comparison(const Comparison& comparison, const RunContext& run) {
  return ComparisonRun(comparison, run).run();
}

}  // namespace league::bench
