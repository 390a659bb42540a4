// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/cluster_tile_cuda.hpp"
#include "algorithms/knn/common/cuda_mma.hpp"

namespace league::knn::cuda_model {
namespace {

/// Two blocks share a tile of 256 queries. Queries of few features stay in shared memory, and the tile has 128 training
/// rows; else it has 256, so that queries are copied half as often.
template <class Unit, bool resident>
using WgmmaTile = blocks::ClusterTile<blocks::mma::Warpgroup<Unit::element, resident ? 128 : 256>, 2, resident,
                                      sizeof(typename Unit::Sum), resident ? 5 : 2>;

constexpr unsigned all_lanes = 0xffffffff;

/// Candidates that a warp has found in a tile, and those of the tile before that had any.
template <class Tile>
struct Found {
  static constexpr int slots = Tile::warp;
  Candidate candidates[2][slots];
  int queries[2][slots];
};

/// Appends a warp's candidates to the lists of their queries. After each tile a lane reserves the place of one by an
/// atomic; it stores the candidate when more have been found, so that the atomic's latency is hidden.
template <class Tile>
class Append {
 public:
  __device__ Append(const MmaWork<Tile>& work, Found<Tile>& found)
      : work_(work), found_(found), lane_(static_cast<int>(threadIdx.x) % Tile::warp) {}
  /// Adds a lane's candidate. @pre all lanes call, `mine` where they have one
  __device__ void push(bool mine, Candidate candidate, int query) {
    const unsigned lanes = __ballot_sync(all_lanes, mine);
    const int slot = pushed_ + __popc(lanes & ((1U << lane_) - 1));
    pushed_ += __popc(lanes);
    if (!mine) return;
    if (slot < Found<Tile>::slots) {
      found_.candidates[pool_][slot] = candidate;
      found_.queries[pool_][slot] = query;
    } else {
      work_.append(query, candidate, [](int* counter) { return atomicAdd(counter, 1); });
    }
  }
  /// After a tile. @pre all lanes call
  __device__ void send() {
    if (pushed_ == 0) return;
    store();
    __syncwarp();
    if (lane_ < pushed_) place_ = atomicAdd(work_.counts + found_.queries[pool_][lane_], 1);
    pool_ ^= 1;
    pushed_ = 0;
  }
  /// Stores the lane's candidate, if it has reserved a place in the list.
  __device__ void store() {
    if (place_ < work_.room)
      work_.lists[std::int64_t{found_.queries[pool_ ^ 1][lane_]} * work_.room + place_] =
          found_.candidates[pool_ ^ 1][lane_];
    place_ = nowhere;
  }

 private:
  static constexpr int nowhere = 0x7fffffff;
  const MmaWork<Tile>& work_;
  Found<Tile>& found_;
  int lane_, pushed_ = 0, pool_ = 0, place_ = nowhere;
};

/// A thread's keys of a tile, part of its two rows at a time.
template <class Tile>
struct Keys {
  using Unit = typename Tile::Unit;
  using Key = typename Tile::Sum;
  static constexpr int some = Tile::resident ? 8 : 16, parts = Tile::row_values / some, rows = Unit::sum_rows;
  const Key (&sums)[Unit::sums];
  const Key* norms;
  int thread;

  /// Column of value `number` of a row.
  __device__ int column(int number) const { return Unit::column(thread, Unit::sum_at(0, number)); }
  /// Calls `body(first, keys)` for each part.
  template <class Body>
  __device__ void for_parts(const Body& body) const {
    blocks::unrolled<parts>([&](int part) {
      Key keys[rows][some];
      blocks::unrolled<some / Unit::run>([&](int i) {
        using Run = blocks::Pack<Key, Unit::run* static_cast<int>(sizeof(Key))>;
        const Run norm = *reinterpret_cast<const Run*>(norms + column(part * some + i * Unit::run));
        for (int row = 0; row < rows; ++row)
          for (int e = 0; e < Unit::run; ++e) {
            const int number = i * Unit::run + e;
            keys[row][number] = norm.values[e] - 2 * sums[Unit::sum_at(row, part * some + number)];
          }
      });
      body(part * some, keys);
    });
  }
  /// First row of a tile of rows + this = a row of the thread.
  __device__ int row(int number) const { return Unit::row(thread, Unit::sum_at(number, 0)); }
};

/// The smallest candidate of each thread's part of a row.
template <class Tile>
__device__ void sample_tile(const MmaWork<Tile>& work, const Keys<Tile>& keys_of, int tile, int first_row) {
  constexpr int rows = Keys<Tile>::rows, some = Keys<Tile>::some;
  Candidate smallest[rows] = {no_candidate, no_candidate};
  keys_of.for_parts([&](int first, const typename Tile::Sum(&keys)[rows][some]) {
    for (int row = 0; row < rows; ++row)
      for (int i = 0; i < some; ++i)
        smallest[row] = lesser(smallest[row], work.candidate(tile, keys_of.column(first + i), keys[row][i]));
  });
  for (int row = 0; row < rows; ++row)
    work.minima[std::int64_t{first_row + keys_of.row(row)} * work.groups + tile * Tile::row_threads +
                keys_of.thread % Tile::row_threads] = smallest[row];
}

/// Collects candidates within their query's threshold. Few parts have any; most of these have one, the minimum of its
/// row. All branches but the innermost are the same for all lanes: lanes that diverge in a tile would stay apart.
template <class Tile>
__device__ void collect_tile(const MmaWork<Tile>& work, const Keys<Tile>& keys_of, int tile, int first_row,
                             const typename Tile::Sum (&threshold)[Keys<Tile>::rows], Append<Tile>& append) {
  using Key = typename Tile::Sum;
  constexpr int rows = Keys<Tile>::rows, some = Keys<Tile>::some;
  static_assert(rows == 2);
  keys_of.for_parts([&](int first, const Key(&keys)[rows][some]) {
    Key smallest[rows];
    bool reached = false;
    for (int row = 0; row < rows; ++row) {
      smallest[row] = KeyLimits<Key>::unlimited();
      for (int i = 0; i < some; ++i) smallest[row] = lesser(smallest[row], keys[row][i]);
      reached |= smallest[row] <= threshold[row];
    }
    if (!__any_sync(all_lanes, reached)) return;
    unsigned hits = 0;
    for (int row = 0; row < rows; ++row)
      for (int i = 0; i < some; ++i) hits |= (keys[row][i] <= threshold[row] ? 1U : 0U) << (row * some + i);
    constexpr unsigned first_row_hits = (1U << some) - 1;
    const bool several[rows] = {__popc(hits & first_row_hits) > 1, __popc(hits & ~first_row_hits) > 1};
    for (; __any_sync(all_lanes, hits != 0); hits &= hits - 1) {
      const int at = __ffs(static_cast<int>(hits)) - 1, row = at < some ? 0 : 1;
      Key key = row == 0 ? smallest[0] : smallest[1];
      if (row == 0 ? several[0] : several[1]) {
        blocks::unrolled<rows * some>([&](int i) {  // registers cannot be indexed at run time
          if (at == i) key = keys[i / some][i % some];
        });
      }
      const int query = first_row + keys_of.row(row);
      const Candidate candidate = work.candidate(tile, keys_of.column(first + at % some), key);
      const bool tie = hits != 0 && key == (row == 0 ? threshold[0] : threshold[1]);
      append.push(hits != 0 && !(tie && candidate > work.threshold[query]), candidate, query);
    }
  });
}

// A cluster takes a tile of queries and a chunk of the training rows, tile by tile; a warpgroup 64 queries.
template <class Tile, bool sampled>
__global__ void __cluster_dims__(Tile::blocks, 1, 1) __launch_bounds__(Tile::threads, 1)
    cluster_products(const MmaWork<Tile> work, const blocks::ClusterPlan plan) {
  using Unit = typename Tile::Unit;
  using Key = typename Tile::Sum;
  extern __shared__ __align__(128) char scratch[];
  __shared__ Found<Tile> found_of[Tile::consumers / Tile::warp];
  const blocks::ClusterStages<Tile> stages(scratch, plan);
  stages.init();
  const int thread = static_cast<int>(threadIdx.x);
  const int all = sampled ? work.samples : work.tiles(), clusters = static_cast<int>(gridDim.x) / Tile::blocks;
  const auto for_items = [&](const auto& body) {
    for (int item = static_cast<int>(blockIdx.x) / Tile::blocks; item < work.items(all); item += clusters) {
      const int first = item / work.query_tiles() * work.chunk;
      body(item % work.query_tiles() * Tile::rows, first, min(first + work.chunk, all));
    }
  };
  if (thread >= Tile::consumers) {
    blocks::give_registers<Tile>();
    blocks::ClusterCopies<Tile> copies(stages);
    if (thread == Tile::consumers)
      for_items([&](int queries, int first, int end) {
        copies.copy(work.test_at(queries), work.train_at(first), end - first,
                    reinterpret_cast<const char*>(work.norms + std::int64_t{first} * Tile::columns));
      });
  } else {
    blocks::take_registers<Tile>();
    blocks::ClusterProducts<Tile> products(stages);
    Append<Tile> append(work, found_of[thread / Tile::warp]);
    const int rank = thread % Unit::threads;
    Key sums[Unit::sums];
    for_items([&](int queries, int first, int end) {
      const int first_row = queries + Tile::first_row(thread);
      Key threshold[Unit::sum_rows];
      if constexpr (!sampled)
        for (int row = 0; row < Unit::sum_rows; ++row)
          threshold[row] = key_of<Key>(work.threshold[first_row + Unit::row(rank, Unit::sum_at(row, 0))]);
      for (int tile = first; tile < end; ++tile) {
        if (!products.takes_next()) continue;
        products.next(sums);
        const Keys<Tile> keys{sums, reinterpret_cast<const Key*>(scratch + products.data_offset()), rank};
        if constexpr (sampled) {
          sample_tile(work, keys, tile, first_row);
        } else {
          collect_tile(work, keys, tile, first_row, threshold, append);
          append.send();
        }
      }
      products.next_panel();
    });
    append.store();
  }
  __syncwarp();
  blocks::cluster::barrier();  // others may still arrive at this block's barriers
}

template <class Tile, class T>
class Wgmma final : public MmaShard<Tile, T> {
 public:
  using MmaShard<Tile, T>::MmaShard;
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
  static constexpr int static_bytes = sizeof(Found<Tile>[Tile::consumers / Tile::warp]);  ///< static shared memory
  /// Tiles per work item, of `tiles` per panel of queries, chosen for load balance over the clusters. Each item starts
  /// by loading its queries, which costs a fraction of a tile.
  [[nodiscard]] int chunk(int tiles) const {
    const double begins = Tile::resident ? 0.6 : 0.3;
    const auto time = [&](int chunk) {
      const int items = this->memory_.work(chunk).query_tiles() * ceil_div(tiles, chunk);
      return ceil_div(items, clusters_) * (std::min(chunk, tiles) + begins);
    };
    int best = 1;
    for (int chunk = 2; chunk <= 8192 / Tile::columns; ++chunk)
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

template <blocks::mma::Element element>
using Wide = blocks::mma::Warpgroup<element>;

std::unique_ptr<IndependentShard> make(const Knn& problem, const Context& context, const Shard& shard) {
  return with_unit<Wide>(problem, [&]<class Unit, class T>() -> std::unique_ptr<IndependentShard> {
    using Resident = WgmmaTile<Unit, true>;
    using Streamed = WgmmaTile<Unit, false>;
    const auto padded = [&](int depth) { return ceil_div<std::int64_t>(problem.features, depth) * depth; };
    const bool fits = padded(Resident::depth) <= 5 * Resident::depth;
    if (fits && 20 * padded(Resident::depth) <= 21 * padded(Streamed::depth))
      return std::make_unique<Wgmma<Resident, T>>(problem, context, shard);
    return std::make_unique<Wgmma<Streamed, T>>(problem, context, shard);
  });
}
const RegisterSplit<Knn> wgmma_variant{"wgmma", cuda::model, make};

}  // namespace
}  // namespace league::knn::cuda_model
