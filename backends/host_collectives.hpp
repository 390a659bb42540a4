// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <span>

#include "backends/communicator.hpp"

/// The operations of a `Communicator`, synchronous, on the buffers of all shards (in shard order) in this process's
/// memory.
namespace league::host {

void all_reduce(std::span<const Buffer> buffers);
void reduce_scatter(std::span<const Buffer> buffers);
void all_gather(std::span<const Buffer> buffers);
void gather(std::span<const Buffer> pieces, const Buffer& whole);
void broadcast(std::span<const Buffer> buffers);
void exchange(std::span<const Transfer> transfers);

}  // namespace league::host
