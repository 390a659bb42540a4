// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/measure/memory_budget.hpp"

#include <algorithm>

#include "bench/ranks/together.hpp"

namespace league::bench {
namespace {

/// Of a processor, and of a GPU that has no memory of its own.
bool computes_in_host_memory(const DeviceInfo& info) {
  return info.device.kind == DeviceKind::host ||
         std::ranges::find(info.facts, std::pair<std::string, std::string>("integrated", "yes")) != info.facts.end();
}

}  // namespace

std::int64_t total_bytes(const Outputs& arrays) {
  std::size_t bytes = 0;
  for (const Output& array : arrays) bytes += array.values.bytes().size();
  return static_cast<std::int64_t>(bytes);
}

std::int64_t memory_budget(const Runtime& runtime, DeviceKind kind, std::optional<std::int64_t> given,
                           const Problem& problem) {
  if (given) return *given;
  const Ranks::Place& place = runtime.ranks().place();
  const Device first = runtime.devices(kind, place.size).front();
  std::int64_t budget = runtime.free_memory_bytes(first) / 10 * 9;
  if (computes_in_host_memory(runtime.info(first))) {  // which the ranks of the host share
    const std::int64_t outputs =
        total_bytes(problem.make_outputs({0, problem.extent()}, *std::pmr::new_delete_resource()));
    budget = std::min(budget, runtime.free_memory_bytes(runtime.host().device) / 10 * 9) / place.local_size;
    budget = std::max<std::int64_t>(0, budget - outputs / place.size);
  }
  return smallest(runtime.ranks(), budget);
}

}  // namespace league::bench
