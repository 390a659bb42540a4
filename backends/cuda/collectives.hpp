// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <span>

#include "backends/communicator.hpp"

/// The kernels of collectives, for engines. All add in shard order, with bitwise equal results.
namespace league::cuda {

struct BarrierView;  // barrier.hpp

/// Blocks of `add_stamped`; receive slots are made for a multiple of it.
inline constexpr int stamped_block = 512;

/// Phases of a sum by stamped words in one kernel.
enum class Phase { whole, send, add };

/// All-reduce by one kernel per shard, run concurrently: sends the values to the receive slots of all shards, polls its
/// own slots, and writes the sum to `values`. `send` and `add` do the same in two kernels, without polling if all of
/// the first have finished before the second. `stamps` [size / stamped_block, rounded up]: a counter on the device,
/// initially 0, one array per set of slots.
/// @pre the number of values is from 1 to the view's capacity
void add_stamped(Queue& queue, Phase phase, const DeviceView& view, const Buffer& values, unsigned* stamps);

/// Destination of the sum of a piece.
enum class Into { own, all };

/// Adds the values of a piece over all buffers (peer access), into buffer `own` or into all, between two barriers.
void add_piece(Queue& queue, std::span<const Buffer> buffers, std::size_t own, Range piece, Into into,
               const BarrierView& barrier);

/// Maximum transfers of one `copy_transfers`.
inline constexpr std::size_t max_transfers = 2 * DeviceView::max_shards;

/// A barrier between the queues of all shards: one kernel of a single block for each.
void join_queues(Queue& queue, const BarrierView& barrier);

/// Copies from the memory of other devices (peer access), between two barriers.
void copy_transfers(Queue& queue, std::span<const Transfer> transfers, const BarrierView& barrier);

/// sum[i] = rows[0, i] + rows[1, i] + ...; `rows` [count x sum.size] is in the memory of the queue's device.
void add_rows(Queue& queue, const void* rows, int count, const Buffer& sum);

}  // namespace league::cuda
