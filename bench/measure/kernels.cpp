// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/measure/kernels.hpp"

#include "backends/model.hpp"

namespace league::bench {
namespace {

/// Libraries are left out: their kernels are not ours to explain, and they may allocate, which a recording forbids.
bool wanted(const Result& result, const PreparedCase& prepared_case) {
  const Case& of = result.of;
  const ModelFacts* model = model_facts(of.model);
  return result.status == Status::passed && of.repeats.empty() && of.devices == 1 && model != nullptr && model->own &&
         prepared_case.shards().front().device.kind == DeviceKind::gpu;
}

}  // namespace

void add_kernels(Result& result, PreparedCase& prepared_case) {
  if (!wanted(result, prepared_case)) return;
  Prepared& prepared = prepared_case.prepared();
  const Timing timing = prepared.timing();
  if (timing.host_clock || timing.host_feeds) {
    result.kernels_note = "the host takes part in a compute";
    return;
  }
  Queue* const queue = &prepared_case.runtime().queue(prepared_case.shards().front().device);
  try {
    Stages unmarked;
    result.kernels = prepared_case.runtime().kernels({&queue, 1}, [&] { prepared.compute(unmarked); });
  } catch (const std::exception& error) {
    result.kernels_note = std::string("a compute cannot be recorded into a graph: ") + error.what();
  }
}

}  // namespace league::bench
