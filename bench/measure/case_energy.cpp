// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/measure/case_energy.hpp"

namespace league::bench {
namespace {

constexpr double between_fences_s = 0.02;  // a fence leaves a device idle for tens of microseconds

}  // namespace

Energy energy_of_case(PreparedCase& prepared_case, Meter& meter, const std::function<void()>& check_interrupt) {
  if (prepared_case.of().ranks > 1) return {.reason = "energy is measured in runs of one process"};
  if (!meter.repeats()) return {.reason = "each compute needs a reset, whose energy would be counted"};
  std::vector<Device> devices;
  for (const Shard& shard : prepared_case.shards()) devices.push_back(shard.device);
  try {
    const auto counter = prepared_case.runtime().energy_counter(devices);
    return measure_energy(*counter, [&] {
      check_interrupt();
      return meter.run_for(between_fences_s);
    });
  } catch (const Unsupported& reason) {
    return {.reason = reason.what()};
  }
}

}  // namespace league::bench
