// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

#include "backends/runtime.hpp"
#include "bench/json.hpp"

namespace league::bench {

/// What may disturb a GPU of a host with `gpus` of them, by the facts of its backend: other processes, exclusive mode,
/// MIG, a power cap, access to other GPUs that is missing or does not work.
std::vector<std::string> gpu_faults(const DeviceInfo& gpu, std::size_t gpus);

/// What may disturb the measurement on any host, one sentence each: unbound threads, a busy machine, shared or
/// throttled devices, GPUs left unused, badly bound ranks. Collective: all ranks call it, inside `together`. `places`:
/// of all ranks (bench/ranks/places.hpp).
std::vector<std::string> preflight(const Runtime& runtime, const Json& places);

}  // namespace league::bench
