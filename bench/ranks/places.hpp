// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

#include "backends/runtime.hpp"
#include "bench/json.hpp"

/// The host, cores and GPUs of each rank, as set by the launcher and the driver.
namespace league::bench {

/// Of this rank: `rank`, `local_rank`, `host`, `threads`, the `cores` of all its threads and their `numa_nodes` (lists
/// as Linux writes them: "0-3,8"), the `gpus` that fall to it at most (`index`, `bus_id`, `numa_node`, `peers`), the
/// bus ids of all `visible_gpus`, and the `variables` that hide GPUs.
Json place_of(const Runtime& runtime);

/// Of all ranks, in rank order. Collective, inside `together`.
Json places_of(const Runtime& runtime);

/// How many hosts there are.
int hosts_of(const Json& places);

/// "rank 1 on node-a: GPU 1 (0000:5d:00.0, NUMA node 1, peer access to 1), cores 16-31 (NUMA nodes 1), 16 threads"
std::string text_of_place(const Json& place);

/// Faults of the launcher's binding, one sentence each: GPUs without peer access, cores on another NUMA node than the
/// GPU, more threads than cores.
std::vector<std::string> binding_faults(const Json& places);

}  // namespace league::bench
