// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/check.hpp"

#include "bench/clock.hpp"
#include "bench/models.hpp"
#include "bench/partition.hpp"

namespace league::bench {

Entrant::Entrant(const Case& that, const Problem& problem, Runtime& runtime, std::int64_t memory_budget_bytes)
    : case_(that),
      problem_(problem),
      runtime_(runtime),
      shards_(partition(problem.extent(), runtime.devices(device_kind(that), that.devices))),
      communicator_(make_communicator(runtime, shards_, that.communicator)) {
  const Variant* variant = registry().variant(that.algorithm->name, that.method->name, that.model);
  prepared_ =
      variant->prepare(problem, {runtime, shards_, *communicator_, memory_budget_bytes, &that.parameters, that.dtype});
  launch_ = prepared_->configure(that.launch);
  upload_s_ = seconds_of([&] {
    prepared_->upload();
    prepared_->fence();
  });
}

Checked check_left(Entrant& entrant) {
  Checked checked;
  checked.download_s = seconds_of([&] {
    checked.outputs = &entrant.prepared().download();
    entrant.prepared().fence();
  });
  checked.verdict = entrant.problem().check(*checked.outputs);
  return checked;
}

Checked check_fresh(Entrant& entrant, Stages& stages, const std::function<void()>& begin) {
  entrant.prepared().reset();
  entrant.prepared().fence();
  if (begin) begin();
  const double compute_s = seconds_of([&] {
    entrant.prepared().compute(stages);
    entrant.prepared().fence();
  });
  Checked checked = check_left(entrant);
  checked.compute_s = compute_s;
  return checked;
}

}  // namespace league::bench
