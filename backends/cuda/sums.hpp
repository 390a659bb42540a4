// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <span>

#include "backends/communicator.hpp"

/// The kernels of sums over shards, for engines. All of them add in the order of the shards, so that their bits agree.
namespace league::cuda {

/// Blocks of `add_stamped`; receive slots are made for a multiple of it.
inline constexpr int stamped_block = 512;

/// What one kernel does of a sum by stamped words.
enum class Phase { whole, send, add };

/// Sends the values into the receive slots of all shards, awaits theirs in its own, and leaves the sum in `values`, by
/// one kernel on every shard, at the same time. `send` and `add` are the same in two kernels: none waits for another
/// when all of the first are done before the second. `exchanges` [size / stamped_block, rounded up] counts on the
/// device: it is 0 at first, and goes with the slots.
/// @pre there are values, not more than the view's capacity
void add_stamped(Queue& queue, Phase phase, const DeviceView& view, const Buffer& values, unsigned* exchanges);

/// Who gets the sum of a piece.
enum class Into { own, all };

/// Adds the values of a piece over all buffers, which this device reaches, into buffer number `own` or into all.
void add_piece(Queue& queue, std::span<const Buffer> buffers, std::size_t own, Range piece, Into into);

/// sum[i] = rows[0, i] + rows[1, i] + ...; `rows` [count x sum.size] lies in the memory of the queue's device.
void add_rows(Queue& queue, const void* rows, int count, const Buffer& sum);

}  // namespace league::cuda
