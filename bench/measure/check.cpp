// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/measure/check.hpp"

#include <algorithm>

#include "algorithms/contract/partition.hpp"
#include "backends/model.hpp"
#include "bench/measure/clock.hpp"
#include "bench/measure/known_results.hpp"
#include "bench/measure/step_trace.hpp"
#include "bench/ranks/gathered.hpp"
#include "bench/ranks/rendezvous.hpp"
#include "bench/study/models.hpp"

namespace league::bench {

Partition world_of(const Problem& problem, int devices, const Ranks::Place& place) {
  return partition(problem.extent(), devices / place.size, place.rank, place.size, problem.batch_rows());
}

PreparedCase::PreparedCase(const Case& that, const Problem& problem, Runtime& runtime, std::int64_t memory_budget_bytes,
                           const Preparation& how)
    : case_(that),
      problem_(problem),
      runtime_(runtime),
      world_(world_of(problem, that.devices, runtime.ranks().place())),
      shards_(local_shards(world_, devices_of(runtime, that))),
      outputs_(problem.make_outputs(world_.local_rows(), how.results != nullptr ? *how.results
                                                         : how.dry              ? *std::pmr::new_delete_resource()
                                                                                : runtime.host_memory())),
      communicator_(make_communicator(runtime, shards_, how.dry ? partition(0, 1) : world_, that.communicator)),
      known_(runtime.ranks().place().alone() ? how.known : nullptr) {
  if (how.trace != nullptr) communicator_ = how.trace->follow(runtime, shards_, std::move(communicator_));
  if (how.results != nullptr) poison(outputs_);
  allocation_s_ = seconds_of([&] {
    const Variant* variant = registry().variant(that.algorithm->name, that.method->name, that.model);
    prepared_ = variant->prepare(
        problem, {runtime, shards_, world_, *communicator_, outputs_, memory_budget_bytes, that.execution, how.dry});
    launch_ = choose();
  });
  if (how.dry) return;
  upload_s_ = seconds_of([&] {
    prepared_->upload();
    prepared_->fence();
  });
}

Launch PreparedCase::configure(const Launch& launch) {
  const std::int64_t teams = std::max<std::int64_t>(problem_.max_teams(), 1);
  if (launch.league > teams)  // idle teams: starting very many takes minutes
    throw Unsupported("league " + std::to_string(launch.league) + ": the problem has work for " +
                      std::to_string(teams) + (teams == 1 ? " team" : " teams"));
  return prepared_->configure(launch);
}

/// A tuned launch may come from a problem of another size: where it is refused, the automatic launch is taken.
Launch PreparedCase::choose() {
  try {
    return configure(case_.launch);
  } catch (const Unsupported& refusal) {
    if (case_.launch_source != LaunchSource::tuned || case_.launch == Launch{}) throw;
    launch_note_ = "automatic launch: the tuned one, " + label(case_.launch) + ", is refused: " + refusal.what();
    return configure({});
  }
}

std::int64_t needed_device_bytes(const Case& that, const Problem& problem, Runtime& runtime,
                                 std::int64_t memory_budget_bytes) {
  if (model_facts(that.model) == nullptr) return 0;  // a peer: unknown before its process runs
  return PreparedCase(that, problem, runtime, memory_budget_bytes, {.dry = true}).prepared().device_bytes();
}

std::string fault_of(const Verdict& verdict) { return verdict.message.empty() ? "beyond its bound" : verdict.message; }

namespace {

/// `known`: null, or results that need no oracle.
Checked check_left(PreparedCase& prepared_case, const Problem& problem, KnownResults* known) {
  Checked checked;
  checked.download_s = seconds_of([&] {
    prepared_case.prepared().download();
    prepared_case.prepared().fence();
  });
  checked.outputs = &prepared_case.outputs();
  Ranks& ranks = prepared_case.runtime().ranks();
  RankReduce reduce(ranks);
  checked.counts = prepared_case.prepared().counts();
  for (auto& [name, count] : checked.counts) count = reduce.sum_of(count);
  if (const std::optional<Verdict> verdict = known != nullptr ? known->find(*checked.outputs) : std::nullopt) {
    checked.verdict = *verdict;
    return checked;
  }
  checked.verdict = gathered(ranks, problem.check(*checked.outputs, reduce), *checked.outputs);
  if (known != nullptr) known->keep(*checked.outputs, checked.verdict);
  return checked;
}

}  // namespace

Checked check_left(PreparedCase& prepared_case) {
  return check_left(prepared_case, prepared_case.problem(), prepared_case.known());
}

Checked check_left(PreparedCase& prepared_case, const Problem& problem) {
  return check_left(prepared_case, problem, nullptr);
}

Checked check_fresh(PreparedCase& prepared_case, Stages& stages, const std::function<void()>& begin) {
  prepared_case.prepared().reset();
  prepared_case.prepared().fence();
  if (begin) begin();
  const double compute_s = Rendezvous(prepared_case.runtime().ranks()).seconds_of([&] {
    prepared_case.prepared().compute(stages);
    prepared_case.prepared().fence();
  });
  Checked checked = check_left(prepared_case);
  checked.compute_s = compute_s;
  return checked;
}

}  // namespace league::bench
