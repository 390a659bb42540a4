// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/measure/peer_stages.hpp"

#include "bench/study/models.hpp"

namespace league::bench {

void take_stages(Result& result, SelfTimed& peer) {
  if (device_kind(result.of) == DeviceKind::gpu) {
    for (const char* stage : {"upload", "download"}) result.trace.stages.erase(stage);
    result.trace.stages.merge(peer.transfers());
  }
  std::map<std::string, double> stages;
  if (!is_very_long(*result.latency_s)) stages = peer.stages();
  if (stages.empty()) result.stages_note = "its compute is one stage";
  result.trace.stages.merge(stages);
}

}  // namespace league::bench
