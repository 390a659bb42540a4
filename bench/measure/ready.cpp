// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/measure/ready.hpp"

#include <algorithm>
#include <map>

#include "bench/study/models.hpp"

namespace league::bench {

int Ready::max_samples() const {
  const Case& of = result->of;
  return samples_for(of.precision ? Stopping::max_samples : of.samples, meter->expected_s());
}

double Ready::sample() {
  const auto read_metrics = [&] {
    std::vector<Device> devices;
    for (const Shard& shard : prepared_case->shards()) devices.push_back(shard.device);
    for (const MetricValue& value : prepared_case->runtime().sample_metrics(devices))
      add_value(result->metrics, "sample", value);
  };
  const int placement = placement_of(drawn++, placements());
  if (placement == 0) return inspector->sample(*prepared_case, *meter, result->batch, read_metrics);
  const Instance& other = others[static_cast<std::size_t>(placement - 1)];
  return inspector->sample(*other.prepared_case, *other.meter, result->batch, read_metrics);
}

void Ready::finish() {
  inspector->finish(*prepared_case, *meter, result->batch);
  result->inspections = inspector->inspections();
}

bool Ready::held() const {
  return meter->holds() && std::ranges::all_of(others, [](const Instance& other) { return other.meter->holds(); });
}

Alike alike(const Ready& ready) {
  const Case& of = ready.result->of;
  return {of.method, compared_as(of.execution), device_kind(of)};
}

void choose_batches(std::vector<Ready>& group) {
  std::map<Alike, int> batches;
  for (const Ready& ready : group) batches[alike(ready)] = std::max(batches[alike(ready)], ready.meter->batch_needed());
  for (const Ready& ready : group)
    ready.result->batch = std::min(batches[alike(ready)], ready.meter->batch_affordable());
}

}  // namespace league::bench
