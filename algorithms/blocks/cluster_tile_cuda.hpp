// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "algorithms/blocks/cluster_cuda.hpp"
#include "algorithms/blocks/unrolled.hpp"
#include "algorithms/blocks/wgmma_cuda.hpp"
#include "backends/cuda/cuda.hpp"

namespace league::blocks {

/// A tile of products by wgmma, shared by the blocks of a cluster. Each block has 128 rows and all 256 columns; two
/// consumer groups of four warps take 64 rows each, and one thread of a third group is the producer that copies. A
/// block copies its own rows, and its share of the columns for all blocks (multicast). A stage is `pieces` pieces deep;
/// one wait per stage.
template <class Unit_, int blocks_, int pieces_ = 2>
struct ClusterTile {
  using Unit = Unit_;
  using Word = typename Unit::Word;
  using Sum = typename Unit::Sum;
  static constexpr int blocks = blocks_, pieces = pieces_, groups = 2, warp = 32;
  static constexpr int block_rows = groups * Unit::rows, rows = blocks * block_rows, columns = Unit::columns;
  static constexpr int depth = pieces * Unit::depth;  ///< elements of a row in a stage
  static constexpr int consumers = groups * Unit::threads, threads = consumers + Unit::threads;
  static constexpr int row_values = Unit::sums / Unit::sum_rows, row_threads = columns / row_values;
  static constexpr int a_words = block_rows * mma::words, b_words = columns * mma::words;  ///< of a piece
  static constexpr int a_bytes = pieces * a_words * static_cast<int>(sizeof(Word));        ///< of a stage
  static constexpr int b_bytes = pieces * b_words * static_cast<int>(sizeof(Word));
  static constexpr int stage_bytes = a_bytes + b_bytes;

  /// First row, in the tile, of a thread's group.
  __device__ static int first_row(int thread) {
    return cluster::block() * block_rows + thread / Unit::threads * Unit::rows;
  }
};

/// Stages in a block's dynamic shared memory, and stages per tile.
struct ClusterPlan {
  static constexpr int max_stages = 16, barrier_bytes = 2 * max_stages * cluster::Barrier::bytes;
  int steps, stages, bytes;

  /// For `steps` stages of depth, in `room` bytes.
  template <class Tile>
  static ClusterPlan of(int steps, int room) {
    const int stages = std::min((room - barrier_bytes) / Tile::stage_bytes, max_stages);
    return {steps, stages, barrier_bytes + stages * Tile::stage_bytes};
  }
};

/// The properties of the queue's device. @throws Unsupported where it has no wgmma
inline cudaDeviceProp hopper_properties(Queue& queue) {
  cudaDeviceProp device;
  cuda::check(cudaGetDeviceProperties(&device, queue.device().index));
  if (device.major != 9) throw Unsupported(std::string(device.name) + " has no wgmma: that is of Hopper only");
  return device;
}
/// @throws Unsupported for a league that is no whole number of clusters
template <class Tile>
void require_whole_clusters(int league) {
  if (league % Tile::blocks != 0)
    throw Unsupported("league " + std::to_string(league) + ": " + std::to_string(Tile::blocks) + " blocks per cluster");
}

/// What producer and consumers share: shared-memory addresses of the stages, and which one is next.
template <class Tile>
struct ClusterStages {
  ClusterPlan plan;
  cluster::Barrier full, empty;  ///< of the first stage
  unsigned first;                ///< stage: rows, then columns
  int stage = 0;
  unsigned phase = 0, at = 0;  ///< bytes from the first stage to the next one

  __device__ ClusterStages(void* shared, const ClusterPlan& plan_)
      : plan(plan_),
        full{__shfl_sync(0xffffffffU, cluster::address_of(shared),
                         0)},  // broadcast: else the compiler recomputes the address in each step
        empty(full + ClusterPlan::max_stages),
        first(full.address + ClusterPlan::barrier_bytes) {}
  /// @pre all threads of the cluster call it, before anything else
  __device__ void init() const {
    if (threadIdx.x == 0)
      for (int i = 0; i < ClusterPlan::max_stages; ++i) {
        (full + i).init(1);
        (empty + i).init(Tile::blocks * Tile::consumers / Tile::warp);
      }
    cluster::Barrier::publish();
    cluster::barrier();
  }
  __device__ void advance() {
    ++stage;
    at += Tile::stage_bytes;
    if (stage < plan.stages) return;
    stage = 0;
    at = 0;
    phase ^= 1;
  }
};

/// Moves registers from the producer group to the consumers (setmaxnreg). @pre all threads of a group call one of the
/// two, in their own branch of the kernel
__device__ inline void give_registers() { asm volatile("setmaxnreg.dec.sync.aligned.u32 40;"); }
__device__ inline void take_registers() { asm volatile("setmaxnreg.inc.sync.aligned.u32 232;"); }

/// The producer: one thread of each block.
template <class Tile>
class ClusterCopies {
  using Word = typename Tile::Word;

 public:
  __device__ explicit ClusterCopies(const ClusterStages<Tile>& stages) : stages_(stages) {}
  /// Copies the operands of one panel of rows with `tiles` panels of columns, one after another.
  __device__ void copy(const Word* a, const Word* b, int tiles) {
    const int block = cluster::block();
    constexpr int share = Tile::b_words / Tile::blocks, word = sizeof(Word);
    for (int tile = 0; tile < tiles; ++tile)
      for (int step = 0; step < stages_.plan.steps; ++step, stages_.advance()) {
        const cluster::Barrier full = stages_.full + stages_.stage;
        const unsigned to_a = stages_.first + stages_.at, to_b = to_a + Tile::a_bytes;
        (stages_.empty + stages_.stage).wait(stages_.phase ^ 1);
        full.expect(Tile::stage_bytes);
        for (int piece = 0; piece < Tile::pieces; ++piece, b += Tile::b_words) {
          cluster::copy_to_all(to_b + (piece * Tile::b_words + block * share) * word, b + block * share, share * word,
                               full, Tile::blocks);
          cluster::copy(to_a + piece * Tile::a_words * word,
                        a + ((step * Tile::pieces + piece) * Tile::blocks + block) * Tile::a_words,
                        Tile::a_words * word, full);
        }
      }
  }

 private:
  ClusterStages<Tile> stages_;
};

/// The consumers, two groups: one may multiply while the other is in its epilogue, at most the number of stages apart.
template <class Tile>
class ClusterProducts {
  using Unit = typename Tile::Unit;

 public:
  __device__ explicit ClusterProducts(const ClusterStages<Tile>& stages)
      : stages_(stages),
        a_(Unit::described(stages.first + static_cast<int>(threadIdx.x) / Unit::threads * Unit::rows * mma::words *
                                              static_cast<int>(sizeof(typename Tile::Word)))),
        b_(Unit::described(stages.first + Tile::a_bytes)),
        empty_(stages.empty.of(static_cast<int>(threadIdx.x) % Tile::blocks)) {}
  /// The next tile.
  __device__ void next(typename Tile::Sum (&sums)[Unit::sums]) {
    int last = -1;
    for (int step = 0; step < stages_.plan.steps; ++step) {
      (stages_.full + stages_.stage).wait(stages_.phase);
      Unit::begin();
      multiply(sums, a_ + stages_.at / 16, b_ + stages_.at / 16, step > 0);
      Unit::close();
      Unit::template wait<1>();
      release(last);
      last = stages_.stage;
      stages_.advance();
    }
    Unit::template wait<0>();
    release(last);
  }

 private:
  __device__ void multiply(typename Tile::Sum (&sums)[Unit::sums], unsigned a, unsigned b, bool add) const {
    constexpr unsigned next_a = Tile::a_bytes / Tile::pieces / 16, next_b = Tile::b_bytes / Tile::pieces / 16;
    if constexpr (Unit::parts == 2) {
      static_assert(Tile::pieces == 2);  // high parts, then low ones; small products are added first
      Unit::multiply(sums, a + next_a, b, add);
      Unit::multiply(sums, a, b + next_b);
      Unit::multiply(sums, a, b);
    } else {
      for (unsigned piece = 0; piece < Tile::pieces; ++piece)
        Unit::multiply(sums, a + piece * next_a, b + piece * next_b, add || piece > 0);
    }
  }
  /// This warp has read the stage: lane i arrives at the barrier of block i.
  __device__ void release(int stage) const {
    if (stage >= 0 && static_cast<int>(threadIdx.x) % Tile::warp < Tile::blocks) (empty_ + stage).arrive();
  }

  ClusterStages<Tile> stages_;
  unsigned a_, b_;          ///< descriptors of the first stage
  cluster::Barrier empty_;  ///< of the first stage, in the block that this lane notifies
};

/// Some of a thread's sums in each of its rows: the epilogue takes them in parts, to save registers.
template <class Tile>
struct ClusterValues {
  using Unit = typename Tile::Unit;
  static constexpr int row_values = 16, parts = Tile::row_values / row_values;
  const typename Tile::Sum (&sums)[Unit::sums];
  int part;

  /// The column of value `number` of each row.
  __device__ int column(int thread, int number) const {
    return Unit::column(thread % Unit::threads, Unit::sum_at(0, part * row_values + number));
  }
  /// Calls `body(row, values)` for each row: those of column(thread, 0, 1, ...).
  template <class Body>
  __device__ void for_rows(int thread, const Body& body) const {
    unrolled<Unit::sum_rows>([&](int row) {
      typename Tile::Sum values[row_values];
      for (int i = 0; i < row_values; ++i) values[i] = sums[Unit::sum_at(row, part * row_values + i)];
      body(Tile::first_row(thread) + Unit::row(thread % Unit::threads, Unit::sum_at(row, 0)), values);
    });
  }
};

}  // namespace league::blocks
