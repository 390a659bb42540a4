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

/// A tile of products by wgmma, shared by the blocks of a cluster. Each block has 128 rows and all columns; groups of
/// four warps take 64 rows each, and one thread of a last group is the producer that copies. A block copies its own
/// rows, and its share of the columns for all blocks (multicast). A stage is `pieces` pieces deep; one wait per stage.
/// `resident`: a panel of rows stays in shared memory for all its tiles; else it is copied again for each. Two pairs of
/// consumer groups then take every other tile, so that the epilogues of three groups hide behind the products of one.
/// `column_bytes` of data per column come with a tile.
template <class Unit_, int blocks_, bool resident_ = false, int column_bytes_ = 0, int pieces_ = 2>
struct ClusterTile {
  using Unit = Unit_;
  using Word = typename Unit::Word;
  using Sum = typename Unit::Sum;
  static constexpr bool resident = resident_;
  static constexpr int blocks = blocks_, pieces = pieces_, sharing = 2, warp = 32;  ///< sharing: groups per tile
  static constexpr int pairs = resident ? 2 : 1, groups = sharing * pairs;
  static constexpr int block_rows = sharing * Unit::rows, rows = blocks * block_rows, columns = Unit::columns;
  static constexpr int depth = pieces * Unit::depth;  ///< elements of a row in a stage
  static constexpr int consumers = groups * Unit::threads, threads = consumers + Unit::threads;
  static constexpr int launch_registers = 65536 / threads / 8 * 8, producer_registers = resident ? 32 : 40;
  static constexpr int consumer_registers =
      (launch_registers + (launch_registers - producer_registers) * Unit::threads / consumers) / 8 * 8;
  static constexpr int row_values = Unit::sums / Unit::sum_rows, row_threads = columns / row_values;
  static constexpr int a_words = block_rows * mma::words, b_words = columns * mma::words;  ///< of a piece
  static constexpr int a_bytes = pieces * a_words * static_cast<int>(sizeof(Word));        ///< of a stage
  static constexpr int b_bytes = pieces * b_words * static_cast<int>(sizeof(Word));
  static constexpr int data_bytes = columns * column_bytes_;  ///< of a tile

  /// First row, in the tile, of a thread's group.
  __device__ static int first_row(int thread) {
    return cluster::block() * block_rows + thread / Unit::threads % sharing * Unit::rows;
  }
};

/// A block's dynamic shared memory: barriers, steps of rows, stages of columns, data of columns.
struct ClusterPlan {
  static constexpr int max_stages = 16, barrier_bytes = 2 * max_stages * cluster::Barrier::bytes;
  int steps, stages;  ///< stages per tile; stages of columns
  int panels;         ///< of rows that are kept
  int a_slots, data_slots, bytes;

  /// Maximum stages in `room` bytes, for tiles of `steps` stages of depth. A stage is copied when the one `stages`
  /// before it has been read by all: so have been the rows a whole number of panels before, at least as many steps. A
  /// tile's data must stay until the next tile of its groups begins.
  template <class Tile>
  static ClusterPlan of(int steps, int room) {
    ClusterPlan plan{};
    for (int stages = max_stages; stages > 0; --stages) {
      const int panels = (stages + steps - 1) / steps, a_slots = Tile::resident ? panels * steps : stages;
      const int data_slots = panels + Tile::pairs;
      plan = {
          steps,      stages,
          panels,     a_slots,
          data_slots, barrier_bytes + a_slots * Tile::a_bytes + stages * Tile::b_bytes + data_slots * Tile::data_bytes};
      if (plan.bytes <= room) break;
    }
    return plan;
  }
};

/// The properties of the queue's device. @throws Unsupported where it has no wgmma
inline cudaDeviceProp hopper_properties(Queue& queue) {
  const cudaDeviceProp device = cuda::properties(queue);
  if (device.major != 9) throw Unsupported(std::string(device.name) + " has no wgmma: that is of Hopper only");
  return device;
}
/// @throws Unsupported for a league that is no whole number of clusters
template <class Tile>
void require_whole_clusters(int league) {
  if (league % Tile::blocks != 0)
    throw Unsupported("league " + std::to_string(league) + ": " + std::to_string(Tile::blocks) + " blocks per cluster");
}

/// What producer and consumers share: shared-memory addresses, and what comes next.
template <class Tile>
struct ClusterStages {
  ClusterPlan plan;
  cluster::Barrier full, empty;  ///< of the first stage
  unsigned rows, columns, data;  ///< the first of each
  int stage = 0;
  unsigned phase = 0;
  int panel = 0, tile = 0;  ///< slots

  __device__ ClusterStages(void* shared, const ClusterPlan& plan_)
      : plan(plan_),
        full{__shfl_sync(0xffffffffU, cluster::address_of(shared),
                         0)},  // broadcast: else the compiler recomputes the address in each step
        empty(full + ClusterPlan::max_stages),
        rows(full.address + ClusterPlan::barrier_bytes),
        columns(rows + plan.a_slots * Tile::a_bytes),
        data(columns + plan.stages * Tile::b_bytes) {}
  /// @pre all threads of the cluster call it, before anything else
  __device__ void init() const {
    if (threadIdx.x == 0)
      for (int i = 0; i < ClusterPlan::max_stages; ++i) {
        (full + i).init(1);
        (empty + i).init(Tile::blocks * Tile::sharing * Tile::Unit::threads / Tile::warp);
      }
    cluster::Barrier::publish();
    cluster::barrier();
  }
  /// Bytes from the first to those of the next stage.
  __device__ unsigned row_offset(int step) const {
    return static_cast<unsigned>(Tile::resident ? panel * plan.steps + step : stage) * Tile::a_bytes;
  }
  __device__ unsigned column_offset() const { return static_cast<unsigned>(stage) * Tile::b_bytes; }
  __device__ unsigned data_offset() const { return static_cast<unsigned>(tile) * Tile::data_bytes; }
  __device__ void advance() {
    if (++stage < plan.stages) return;
    stage = 0;
    phase ^= 1;
  }
  __device__ void next_tile() { tile = tile + 1 < plan.data_slots ? tile + 1 : 0; }
  __device__ void next_panel() { panel = panel + 1 < plan.panels ? panel + 1 : 0; }
};

/// Moves registers from the producer group to the consumers (setmaxnreg). @pre all threads of a group call one of the
/// two, in their own branch of the kernel
template <class Tile>
__device__ void give_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Tile::producer_registers));
}
template <class Tile>
__device__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Tile::consumer_registers));
}

/// The producer: one thread of each block.
template <class Tile>
class ClusterCopies {
  using Word = typename Tile::Word;

 public:
  __device__ explicit ClusterCopies(const ClusterStages<Tile>& stages) : stages_(stages) {}
  /// Copies the operands of one panel of rows with `tiles` panels of columns, one after another, and their data.
  __device__ void copy(const Word* a, const Word* b, int tiles, const char* data = nullptr) {
    for (int tile = 0; tile < tiles; ++tile, stages_.next_tile())
      for (int step = 0; step < stages_.plan.steps; ++step, stages_.advance(), b += Tile::pieces * Tile::b_words) {
        const bool with_rows = !Tile::resident || tile == 0, with_data = Tile::data_bytes > 0 && step == 0;
        const cluster::Barrier full = stages_.full + stages_.stage;
        (stages_.empty + stages_.stage).wait(stages_.phase ^ 1);
        full.expect(Tile::b_bytes + (with_rows ? Tile::a_bytes : 0) + (with_data ? Tile::data_bytes : 0));
        copy_columns(b, full);
        if (with_rows) copy_rows(a, step, full);
        if (with_data)
          cluster::copy(stages_.data + stages_.data_offset(), data + std::int64_t{tile} * Tile::data_bytes,
                        Tile::data_bytes, full);
      }
    stages_.next_panel();
  }

 private:
  static constexpr int word = sizeof(Word);
  __device__ void copy_columns(const Word* b, cluster::Barrier full) const {
    constexpr int share = Tile::b_bytes / word / Tile::blocks;
    const int first = cluster::block() * share;
    cluster::copy_to_all(stages_.columns + stages_.column_offset() + first * word, b + first, share * word, full,
                         Tile::blocks);
  }
  __device__ void copy_rows(const Word* a, int step, cluster::Barrier full) const {
    const unsigned to = stages_.rows + stages_.row_offset(step);
    for (int piece = 0; piece < Tile::pieces; ++piece) {
      const int from = (step * Tile::pieces + piece) * Tile::blocks + cluster::block();
      cluster::copy(to + piece * Tile::a_words * word, a + from * Tile::a_words, Tile::a_words * word, full);
    }
  }

  ClusterStages<Tile> stages_;
};

/// The consumers. Where a tile fits into the stages they take turns: a group multiplies while the others are in their
/// epilogues.
template <class Tile>
class ClusterProducts {
  using Unit = typename Tile::Unit;

 public:
  __device__ explicit ClusterProducts(const ClusterStages<Tile>& stages)
      : stages_(stages),
        a_(Unit::described(stages.rows + group() % Tile::sharing * Unit::rows * mma::words *
                                             static_cast<int>(sizeof(typename Tile::Word)))),
        b_(Unit::described(stages.columns)),
        empty_(stages.empty.of(static_cast<int>(threadIdx.x) % Tile::blocks)) {
    if (group() == Tile::groups - 1) pass_turn();
  }
  /// Whether this group takes the next tile of the panel; if not, it is skipped.
  __device__ bool takes_next() {
    pair_ = pair_ + 1 < Tile::pairs ? pair_ + 1 : 0;
    if (pair_ == group() / Tile::sharing) return true;
    for (int step = 0; step < stages_.plan.steps; ++step) stages_.advance();
    stages_.next_tile();
    return false;
  }
  /// The next tile of the panel.
  __device__ void next(typename Tile::Sum (&sums)[Unit::sums]) {
    int last = -1;
    wait_turn();
    for (int step = 0; step < stages_.plan.steps; ++step) {
      (stages_.full + stages_.stage).wait(stages_.phase);
      Unit::begin();
      multiply(sums, a_ + stages_.row_offset(step) / 16, b_ + stages_.column_offset() / 16, step > 0);
      Unit::close();
      if (step == stages_.plan.steps / 2) pass_turn();
      Unit::template wait<1>();
      release(last);
      last = stages_.stage;
      stages_.advance();
    }
    Unit::template wait<0>();
    release(last);
    data_ = stages_.data - stages_.full.address + stages_.data_offset();
    stages_.next_tile();
  }
  /// Offset, in the dynamic shared memory, of the data of the last tile's columns; they stay until the next tile.
  [[nodiscard]] __device__ unsigned data_offset() const { return data_; }
  /// After the last tile of a panel.
  __device__ void next_panel() { stages_.next_panel(); }

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

  __device__ static int group() { return static_cast<int>(threadIdx.x) / Unit::threads; }
  [[nodiscard]] __device__ bool in_turns() const { return stages_.plan.steps <= stages_.plan.stages; }
  // The turn of group g is at named barrier 2 + g.
  __device__ void wait_turn() const {
    if (in_turns()) asm volatile("bar.sync %0, %1;" ::"r"(2 + group()), "n"(2 * Unit::threads) : "memory");
  }
  __device__ void pass_turn() const {
    const int next = group() + 1 < Tile::groups ? group() + 1 : 0;
    if (in_turns()) asm volatile("bar.arrive %0, %1;" ::"r"(2 + next), "n"(2 * Unit::threads) : "memory");
  }

  ClusterStages<Tile> stages_;
  unsigned a_, b_;          ///< descriptors of the first stage
  cluster::Barrier empty_;  ///< of the first stage, in the block that this lane notifies
  unsigned data_ = 0;
  int pair_ = -1;  ///< that takes the tile
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
