// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/cluster_tile_cuda.hpp"
#include "algorithms/knn/cuda_mma.hpp"

namespace league::knn::cuda_model {
namespace {

/// Two blocks share a tile of 256 queries and 256 training rows.
template <class Unit>
using WgmmaTile = blocks::ClusterTile<Unit, 2>;

/// Norms of a tile's training rows, of this tile and of the last, for the four warps of a group.
template <class Tile>
struct Norms {
  using Unit = typename Tile::Unit;
  using Key = typename Tile::Sum;
  using Run = blocks::Pack<Key, Unit::run* static_cast<int>(sizeof(Key))>;
  static_assert(Unit::threads * Unit::run == Tile::columns);
  Key of[2][Tile::columns];

  /// Loads a thread's share; visible to the group after `publish`.
  __device__ static Run load(const MmaWork<Tile>& work, int tile, int thread) {
    return *reinterpret_cast<const Run*>(work.norms + std::int64_t{tile} * Tile::columns + thread * Unit::run);
  }
  __device__ const Key* publish(int tile, int group, int thread, const Run& run) {
    Key* norms = of[tile % 2];
    *reinterpret_cast<Run*>(norms + thread * Unit::run) = run;
    asm volatile("bar.sync %0, %1;" ::"r"(2 + group), "n"(Unit::threads) : "memory");
    return norms;
  }
};

/// Candidates that a warp has found in a tile. A lane reserves a slot in the query's list by an atomic, and stores the
/// candidate one tile later, so that the atomic's latency is hidden.
template <class Tile>
struct Found {
  static constexpr int slots = Tile::warp;
  Candidate pool[slots];
  int queries[slots];
  int pushed;
};

/// A lane's candidate whose slot is reserved, not yet stored.
struct Sent {
  Candidate candidate;
  int query = -1, place;
};

/// A thread's keys of a tile, part of a row at a time.
template <class Tile>
struct Keys {
  using Unit = typename Tile::Unit;
  using Key = typename Tile::Sum;
  static constexpr int some = 16, parts = Tile::row_values / some;
  const Key (&sums)[Unit::sums];
  const Key* norms;
  int thread;

  /// Column of value `number` of a row.
  __device__ int column(int number) const { return Unit::column(thread, Unit::sum_at(0, number)); }
  /// Calls `body(row, first, keys)` for each part of each row.
  template <class Body>
  __device__ void for_parts(const Body& body) const {
    blocks::unrolled<parts>([&](int part) {
      Key norm[some];
      blocks::unrolled<some / Unit::run>([&](int i) {
        using Run = typename Norms<Tile>::Run;
        const Run run = *reinterpret_cast<const Run*>(norms + column(part * some + i * Unit::run));
        for (int e = 0; e < Unit::run; ++e) norm[i * Unit::run + e] = run.values[e];
      });
      blocks::unrolled<Unit::sum_rows>([&](int row) {
        Key keys[some];
        for (int i = 0; i < some; ++i) keys[i] = norm[i] - 2 * sums[Unit::sum_at(row, part * some + i)];
        body(row, part * some, keys);
      });
    });
  }
};

/// The smallest candidate of each thread's part of a row.
template <class Tile>
__device__ void sample_tile(const MmaWork<Tile>& work, const Keys<Tile>& keys_of, int tile, int first_row) {
  using Unit = typename Tile::Unit;
  Candidate smallest[Unit::sum_rows] = {no_candidate, no_candidate};
  keys_of.for_parts([&](int row, int first, const typename Tile::Sum* keys) {
    for (int i = 0; i < Keys<Tile>::some; ++i)
      smallest[row] = lesser(smallest[row], work.candidate(tile, keys_of.column(first + i), keys[i]));
  });
  for (int row = 0; row < Unit::sum_rows; ++row)
    work.minima[std::int64_t{first_row + Unit::row(keys_of.thread, Unit::sum_at(row, 0))} * work.groups +
                tile * Tile::row_threads + keys_of.thread % Tile::row_threads] = smallest[row];
}

/// Collects candidates within their query's threshold. Few parts of a row have any; most of these have one, the
/// minimum.
template <class Tile>
__device__ void collect_tile(const MmaWork<Tile>& work, const Keys<Tile>& keys_of, int tile, int first_row,
                             const typename Tile::Sum (&threshold)[Tile::Unit::sum_rows], Found<Tile>& found) {
  using Unit = typename Tile::Unit;
  using Key = typename Tile::Sum;
  keys_of.for_parts([&](int row, int first, const Key* keys) {
    Key smallest = KeyLimits<Key>::unlimited();
    for (int i = 0; i < Keys<Tile>::some; ++i) smallest = lesser(smallest, keys[i]);
    if (!(smallest <= threshold[row])) return;
    unsigned hits = 0;
    for (int i = 0; i < Keys<Tile>::some; ++i) hits |= (keys[i] <= threshold[row] ? 1U : 0U) << i;
    const int query = first_row + Unit::row(keys_of.thread, Unit::sum_at(row, 0));
    const bool several = __popc(hits) > 1;
    for (; hits != 0; hits &= hits - 1) {
      const int at = __ffs(static_cast<int>(hits)) - 1;
      Key key = smallest;
      if (several)
        blocks::unrolled<Keys<Tile>::some>([&](int i) {  // registers cannot be indexed at run time
          if (at == i) key = keys[i];
        });
      const Candidate candidate = work.candidate(tile, keys_of.column(first + at), key);
      if (key == threshold[row] && candidate > work.threshold[query]) continue;
      const int slot = atomicAdd(&found.pushed, 1);
      if (slot < Found<Tile>::slots) {
        found.pool[slot] = candidate;
        found.queries[slot] = query;
      } else {
        work.append(query, candidate, [](int* counter) { return atomicAdd(counter, 1); });
      }
    }
  });
}

/// Stores a lane's pending candidate, and reserves a slot for another one.
template <class Tile>
__device__ void send(const MmaWork<Tile>& work, Found<Tile>& found, int lane, Sent& sent) {
  __syncwarp();
  const int pushed = found.pushed;
  if (sent.query >= 0 && sent.place < work.room)
    work.lists[std::int64_t{sent.query} * work.room + sent.place] = sent.candidate;
  sent.query = lane < pushed ? found.queries[lane] : -1;
  if (sent.query >= 0) {
    sent.candidate = found.pool[lane];
    sent.place = atomicAdd(work.counts + sent.query, 1);
  }
  __syncwarp();
  if (lane == 0) found.pushed = 0;
  __syncwarp();
}

// A cluster takes a tile of queries and a chunk of the training rows, tile by tile; a warpgroup 64 queries.
template <class Tile, bool sampled>
__global__ void __cluster_dims__(Tile::blocks, 1, 1) __launch_bounds__(Tile::threads, 1)
    cluster_products(const MmaWork<Tile> work, const blocks::ClusterPlan plan) {
  using Unit = typename Tile::Unit;
  using Key = typename Tile::Sum;
  extern __shared__ __align__(128) char scratch[];
  __shared__ Found<Tile> found_of[Tile::consumers / Tile::warp];
  __shared__ Norms<Tile> norms_of[Tile::groups];
  const blocks::ClusterStages<Tile> stages(scratch, plan);
  stages.init();
  const int thread = static_cast<int>(threadIdx.x), lane = thread % Tile::warp;
  const int all = sampled ? work.samples : work.tiles(), clusters = static_cast<int>(gridDim.x) / Tile::blocks;
  const auto for_items = [&](const auto& body) {
    for (int item = static_cast<int>(blockIdx.x) / Tile::blocks; item < work.items(all); item += clusters) {
      const int first = item / work.query_tiles() * work.chunk;
      body(item % work.query_tiles() * Tile::rows, first, min(first + work.chunk, all));
    }
  };
  if (thread >= Tile::consumers) {
    blocks::give_registers();
    blocks::ClusterCopies<Tile> copies(stages);
    if (thread == Tile::consumers)
      for_items([&](int queries, int first, int end) {
        copies.copy(work.test_at(queries), work.train_at(first), end - first);
      });
  } else {
    blocks::take_registers();
    blocks::ClusterProducts<Tile> products(stages);
    Found<Tile>& found = found_of[thread / Tile::warp];
    if (lane == 0) found.pushed = 0;
    __syncwarp();
    Sent sent;
    const int group = thread / Unit::threads, rank = thread % Unit::threads;
    Key sums[Unit::sums];
    for_items([&](int queries, int first, int end) {
      const int first_row = queries + Tile::first_row(thread);
      Key threshold[Unit::sum_rows];
      if constexpr (!sampled)
        for (int row = 0; row < Unit::sum_rows; ++row)
          threshold[row] = key_of<Key>(work.threshold[first_row + Unit::row(rank, Unit::sum_at(row, 0))]);
      for (int tile = first; tile < end; ++tile) {
        const auto norms = Norms<Tile>::load(work, tile, rank);
        products.next(sums);
        const Keys<Tile> keys{sums, norms_of[group].publish(tile, group, rank, norms), rank};
        if constexpr (sampled) {
          sample_tile(work, keys, tile, first_row);
        } else {
          collect_tile(work, keys, tile, first_row, threshold, found);
          send(work, found, lane, sent);
        }
      }
    });
    if constexpr (!sampled) send(work, found, lane, sent);
  }
  __syncwarp();
  blocks::cluster::barrier();  // others may still arrive at this block's barriers
}

template <class Unit, class T>
class Wgmma final : public MmaPart<WgmmaTile<Unit>, T> {
  using Tile = WgmmaTile<Unit>;

 public:
  using MmaPart<Tile, T>::MmaPart;
  Launch configure(Launch launch) override {
    const cudaDeviceProp device = blocks::hopper_properties(this->queue());
    plan_ = blocks::ClusterPlan::of<Tile>(this->memory_.train_pieces.steps / Tile::pieces,
                                          static_cast<int>(cuda::max_scratch(device)) - static_bytes);
    cuda::check(cuda::allow_scratch(reinterpret_cast<const void*>(cluster_products<Tile, true>), plan_.bytes));
    cuda::check(cuda::allow_scratch(reinterpret_cast<const void*>(cluster_products<Tile, false>), plan_.bytes));
    clusters_ = device.multiProcessorCount / Tile::blocks;
    const bool all = launch.league == 0;
    if (launch.tile == 0) launch.tile = chunk(this->memory_.work(1).tiles()) * Tile::columns;
    launch = this->memory_.configure(launch, cuda::limits);
    if (all) {
      const MmaWork<Tile> work = this->memory_.work(launch.tile / Tile::columns);
      launch.league = Tile::blocks * std::min(clusters_, work.items(work.tiles()));
    }
    blocks::require_whole_clusters<Tile>(launch.league);
    return this->launch_ = launch;
  }

 private:
  static constexpr int static_bytes = 8 * 1024;  ///< static shared memory
  /// Tiles per work item, of `tiles` per panel of queries, chosen for load balance over the clusters. Each item starts
  /// by loading its queries, which costs a fraction of a tile.
  [[nodiscard]] int chunk(int tiles) const {
    const double begins = 0.3;
    const auto time = [&](int chunk) {
      const int items = this->memory_.work(chunk).query_tiles() * ceil_div(tiles, chunk);
      return ceil_div(items, clusters_) * (std::min(chunk, tiles) + begins);
    };
    int best = 1;
    for (int chunk = 2; chunk <= 32; ++chunk)
      if (time(chunk) < time(best)) best = chunk;
    return best;
  }
  void sample() override {
    const MmaWork<Tile> work = this->memory_.work(chunk(this->memory_.samples()));
    launch<true>(work, Tile::blocks * std::min(clusters_, work.items(work.samples)));
  }
  void collect(const MmaWork<Tile>& work) override { launch<false>(work, this->launch_.league); }
  template <bool sampled>
  void launch(const MmaWork<Tile>& work, int league) {
    cluster_products<Tile, sampled><<<league, Tile::threads, plan_.bytes, cuda::stream(this->queue())>>>(work, plan_);
    cuda::check_launch();
  }

  blocks::ClusterPlan plan_{};
  int clusters_ = 0;
};

const RegisterSplit<Knn> registered{"wgmma", cuda::model, by_unit<blocks::mma::Warpgroup, Wgmma>};

}  // namespace
}  // namespace league::knn::cuda_model
