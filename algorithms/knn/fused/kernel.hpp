// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstdint>

#include "algorithms/blocks/product_tile.hpp"
#include "algorithms/knn/common/shard.hpp"
#include "algorithms/knn/fused/chunk.hpp"
#include "backends/launch.hpp"

namespace league::knn {

using blocks::Group;

/// Arguments of the kernels of `fused`, the same in CUDA and Kokkos. A work item is a tile of queries and a chunk of
/// the training rows. It keeps its own lists: the k best of its chunk, by key |y|^2 - 2 x.y (same order as the
/// distance), then index.
template <class Packed>
struct FusedWork {
  const Packed *test, *train;  ///< panels
  blocks::Panels test_panels, train_panels;
  const float* norms;  ///< of the training rows; NaN for padding
  std::int64_t queries;
  int k, chunk;             ///< training rows of a work item: whole tiles
  std::int32_t* threshold;  ///< [queries] ordered(float): no larger key can be among the k best of all chunks
  double* keys;             ///< [chunks][k][test rows]
  std::int32_t* indices;    ///< same layout

  LEAGUE_FUNCTION int tiles(int rows) const { return static_cast<int>((queries + rows - 1) / rows); }
  LEAGUE_FUNCTION int chunks() const { return static_cast<int>((train_panels.rows + chunk - 1) / chunk); }
  LEAGUE_FUNCTION int end_of(int chunk_number) const {
    const std::int64_t end = (std::int64_t{chunk_number} + 1) * chunk;
    return static_cast<int>(end < train_panels.rows ? end : train_panels.rows);
  }
  LEAGUE_FUNCTION blocks::KBest<double, std::int32_t> list(std::int64_t chunk_number, std::int64_t query) const {
    const std::int64_t first = chunk_number * k * test_panels.rows + query;
    return {keys + first, indices + first, k, test_panels.rows};
  }
  /// Merges all lists of a query (none: a query beyond the last) by `slices` threads of a team: each merges every
  /// slices-th list into its first one, in place; then the first thread takes these. @pre all threads call
  template <class Barrier>
  LEAGUE_FUNCTION void merge(std::int64_t query, int slice, int slices, const Barrier& barrier,
                             std::int64_t* neighbours, double* distances) const {
    const bool exists = query < queries;
    const double within = exists ? from_ordered(threshold[query] + 1) : 0;  // + 1: the threshold was rounded to float
    const auto list_of = [&](int chunk_number) { return list(chunk_number, query); };
    if (exists && slice < chunks()) insert_lists(slice + slices, chunks(), slices, within, list_of, list_of(slice));
    barrier();
    if (!exists || slice > 0) return;
    const blocks::KBest<double, std::int64_t> best{distances + query * k, neighbours + query * k, k, 1};
    best.clear();
    insert_lists(0, slices < chunks() ? slices : chunks(), 1, within, list_of, best);
  }
};

/// Scratch of a team: its candidates take the place of the operands of the product tile.
template <class Shape>
struct FusedScratch {
  static constexpr int slots = Shape::scratch_bytes / 8 / Shape::rows;  ///< candidates per query
  alignas(
      16) float products[Shape::scratch_bytes / 4];  ///< of the tile: operands; later [slots][rows], then their rows
  float threshold[Shape::rows];
  int pushed[Shape::rows], more;
  /// [slots][rows]; with an array of pairs the compiler keeps all sums in register pairs.
  LEAGUE_FUNCTION int* indices() { return reinterpret_cast<int*>(products + slots * Shape::rows); }
};

/// All work items of team `rank` of `teams`: a tile of queries and a chunk of training rows, tile by tile; a thread has
/// a square of products, and one query's list. Keys below the threshold of their query are rare: threads push them to
/// scratch, and the query's owner thread inserts them. `Atomics::add`, `min`: on an integer; `add` returns the old
/// value.
/// @pre all threads call
template <class Shape, class Atomics, class Packed, class Barrier>
LEAGUE_FUNCTION void take_items(const Group<Barrier>& team, int rank, int teams, const FusedWork<Packed>& work,
                                FusedScratch<Shape>& scratch) {
  constexpr int slots = FusedScratch<Shape>::slots;
  int* indices = scratch.indices();
  const int thread = team.rank;
  const int tiles = work.tiles(Shape::rows), items = tiles * work.chunks();
  if (thread == 0) scratch.more = 0;

  for (int item = rank; item < items; item += teams) {
    const int queries = item % tiles * Shape::rows, chunk = item / tiles, end = work.end_of(chunk);
    const auto owns = [&] { return thread < Shape::rows && queries + thread < work.queries; };
    if (thread < Shape::rows) {
      scratch.threshold[thread] =
          owns() ? from_ordered(work.threshold[queries + thread]) : -blocks::KBest<float, int>::none;
      scratch.pushed[thread] = 0;
    }
    if (owns()) work.list(chunk, queries + thread).clear();

    for (int first = chunk * work.chunk; first < end; first += Shape::columns) {
      float sum[Shape::thread_rows][Shape::thread_columns];
      blocks::product_tile<Shape, blocks::PlainElement<Packed>>(team, work.test + work.test_panels.first(queries),
                                                                work.train + work.train_panels.first(first),
                                                                work.train_panels.depth, scratch.products, sum);
      // Opaque copy of the thread index: keeps address computations out of the product loop (register pressure).
      const int again = thread - (first >> 31);
      const int row = Shape::first_row(again), column = first + Shape::first_column(again);
      const float* norms = work.norms + column;
      for (bool left = true; left;) {
        for (int i = 0; i < Shape::thread_rows; ++i) {
          const int query = row + Shape::row_step(i);
          const float within = scratch.threshold[query];
          const auto reaches = [&](int j) { return norms[Shape::column_step(j)] - 2 * sum[i][j] <= within; };
          bool any = false;
          for (int j = 0; j < Shape::thread_columns; ++j) any |= reaches(j);
          if (!any) continue;
          for (int j = 0; j < Shape::thread_columns; ++j) {
            if (!reaches(j)) continue;
            const int slot = Atomics::add(&scratch.pushed[query], 1);
            if (slot < slots) {
              scratch.products[slot * Shape::rows + query] = sum[i][j];
              indices[slot * Shape::rows + query] = column + Shape::column_step(j);
              sum[i][j] = blocks::no_norm<float>;  // done: NaN is below no threshold
            } else {
              scratch.more = 1;
            }
          }
        }
        team.barrier();
        left = scratch.more != 0;
        if (owns() && scratch.pushed[thread] > 0) {
          const auto list = work.list(chunk, queries + thread);
          const int count = scratch.pushed[thread] < slots ? scratch.pushed[thread] : slots;
          for (int slot = 0; slot < count; ++slot) {
            const int index = indices[slot * Shape::rows + thread];
            list.insert(work.norms[index] - 2.0 * scratch.products[slot * Shape::rows + thread], index);
          }
          const auto reached = static_cast<float>(list.threshold());
          if (reached < scratch.threshold[thread]) scratch.threshold[thread] = reached;
          scratch.pushed[thread] = 0;
        }
        if (left) {
          team.barrier();
          if (thread == 0) scratch.more = 0;
          team.barrier();
        }
      }
    }
    if (owns()) Atomics::min(work.threshold + queries + thread, ordered(scratch.threshold[thread]));
  }
}

/// Rounds the chunk to whole tiles, and sets the league size.
/// @throws Unsupported for a team size without a tile
inline Launch with_whole_tiles(Launch launch, const blocks::Panels& train, std::int64_t queries) {
  if (launch.vector != 1)
    throw Unsupported("vector length " + std::to_string(launch.vector) +
                      ": each thread of this kernel keeps its own sums, it takes 1");
  if (launch.team != 64 && launch.team != 128 && launch.team != 256)
    throw Unsupported("team size " + std::to_string(launch.team) +
                      ": this kernel has tiles for 64, 128 and 256 threads");
  constexpr std::int64_t width = blocks::Panels::width;
  launch.tile = static_cast<int>(ceil_div(std::min<std::int64_t>(launch.tile, train.rows), width) * width);
  const int rows = launch.team == 64 ? blocks::TileFor<float, 64>::rows : blocks::TileFor<float, 256>::rows;
  const std::int64_t items = ceil_div<std::int64_t>(train.rows, launch.tile) * ceil_div<std::int64_t>(queries, rows);
  if (items > max_league)
    throw Unsupported(std::to_string(items) + " work items: this kernel counts up to " + std::to_string(max_league) +
                      "; take a larger tile");
  if (launch.league == 0) launch.league = league_of(items);
  return launch;
}

/// Memory of `fused` on a GPU: packed rows with their norms, and the lists of all work items.
template <class T, class Element, template <class> class Array>
struct FusedMemory {
  using Packed = typename Element::Packed;

  FusedMemory(IndependentShard& shard, const Knn& problem)
      : knn(shard, problem), train_panels(knn.n, knn.features), test_panels(knn.m, knn.features) {
    shard.declare(train, "knn/packed_train", train_panels.size());
    shard.declare(test, "knn/packed_test", test_panels.size());
    shard.declare(train_norms, "knn/train_norms", train_panels.rows);
    shard.declare(test_norms, "knn/test_norms", test_panels.rows);
    shard.declare(threshold, "knn/threshold", knn.m);
  }
  /// Resolves the launch as above, and declares the lists that it needs.
  Launch configure(IndependentShard& shard, Launch launch, const LaunchLimits& limits) {
    const int chunk = default_chunk(knn.k, knn.n, knn.m, knn.features, multiprocessors(shard));
    launch = with_whole_tiles(resolve(launch, {0, 256, 1, chunk}, limits), train_panels, knn.m);
    const std::int64_t chunks = ceil_div<std::int64_t>(train_panels.rows, launch.tile);
    shard.declare(keys, "knn/keys", chunks * knn.k * test_panels.rows);
    shard.declare(indices, "knn/indices", chunks * knn.k * test_panels.rows);
    return launch;
  }
  [[nodiscard]] FusedWork<Packed> work(int chunk) const {
    return {test.data(), train.data(), test_panels,      train_panels, train_norms.data(), knn.m,
            knn.k,       chunk,        threshold.data(), keys.data(),  indices.data()};
  }

  Memory<T, Array> knn;
  blocks::Panels train_panels, test_panels;
  Array<Packed> train, test;
  Array<float> train_norms, test_norms;
  Array<std::int32_t> threshold, indices;
  Array<double> keys;
};

/// Calls `body` with the tile of a team size.
template <class Body>
void with_tile(int team, const Body& body) {
  if (team == 64) return body.template operator()<blocks::TileFor<float, 64>>();
  if (team == 128) return body.template operator()<blocks::TileFor<float, 128>>();
  return body.template operator()<blocks::TileFor<float, 256>>();
}

}  // namespace league::knn
