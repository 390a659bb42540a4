// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/cluster_cuda.hpp"
#include "algorithms/blocks/group_cuda.hpp"
#include "algorithms/blocks/sums_cuda.hpp"

/// Sums over all threads of a cluster of Hopper, for kernels that take all steps of a solve: an all-reduce that is its
/// own barrier. Blocks store their sums in each other's shared memory, whose barrier counts the bytes.
namespace league::blocks::cluster {

/// Maximum blocks of a cluster: a size that is not portable.
inline constexpr int max_blocks = 16;

/// In the shared memory of each block, at the same offset.
template <int n>
struct Sums {
  double of_blocks[2][max_blocks][n];  ///< by parity of the step
  std::uint64_t arrived[2];

  /// Makes the barriers ready. @pre all threads of the cluster call
  __device__ void init() {
    if (block_group().rank == 0)
      for (int turn = 0; turn < 2; ++turn) barrier_of(turn).init(1);
    Barrier::publish();
    barrier();
  }
  /// Adds over all threads of all blocks, in the same order in each block; all threads get the sums. Sums of a step are
  /// written again two steps later: by then each block that reads them has sent those of the step between.
  /// `scratch`: as for `sums_for_all`.
  /// @pre whole warps; all threads of the cluster call, with `step` incremented each time
  template <class T>
  __device__ blocks::Sums<double, n> add(const blocks::Sums<T, n>& mine, int blocks, double* scratch,
                                         std::int64_t step) {
    if (blocks == 1) return sums_for_all(mine, scratch, step);
    const int turn = static_cast<int>(step & 1), lane = block_group().rank % subgroup_size;
    if (block_group().rank == 0) barrier_of(turn).expect(blocks * n * static_cast<int>(sizeof(double)));
    send(sums_for_all(mine, scratch, step), blocks, turn);
    barrier_of(turn).wait(static_cast<unsigned>(step >> 1 & 1));
    blocks::Sums<double, n> sums;
    for (int i = 0; i < n; ++i) {
      const int other = lane % max_blocks;
      sums.values[i] = other < blocks ? of_blocks[turn][other][i] : 0.0;
    }
    for (int offset = max_blocks / 2; offset > 0; offset /= 2)
      for (int i = 0; i < n; ++i) sums.values[i] += cuda::shuffle_xor(sums.values[i], offset);
    return sums;
  }

 private:
  [[nodiscard]] __device__ Barrier barrier_of(int turn) const { return {address_of(&arrived[turn])}; }
  /// A lane sends to one block, a warp every warps-th value.
  __device__ void send(const blocks::Sums<double, n>& sums, int blocks, int turn) const {
    const int lane = block_group().rank % subgroup_size, warp = block_group().rank / subgroup_size;
    if (lane >= blocks) return;
    const Barrier there = barrier_of(turn).of(lane);
    int sender = 0;  // of value i: i modulo the number of warps, without its division
    for (int i = 0; i < n; ++i) {
      if (sender == warp) store(in_block(address_of(&of_blocks[turn][block()][i]), lane), sums.values[i], there);
      if (++sender * subgroup_size == block_group().size) sender = 0;
    }
  }
};

}  // namespace league::blocks::cluster
