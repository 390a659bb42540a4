// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "algorithms/blocks/group.hpp"
#include "algorithms/blocks/term.hpp"
#include "algorithms/blocks/unrolled.hpp"
#include "algorithms/distance_matrix/common/shard.hpp"
#include "backends/launch.hpp"

/// The method `split_k`, the same in CUDA and Kokkos: the threads of a team share the coordinates of a tile of pairs
/// (split-K within a team), for few points of many coordinates.
namespace league::distance_matrix {

/// A block of rows as tiles of `edge x edge` pairs.
template <class T>
struct PairTiles {
  int n, dimension, first, rows;  ///< `first` is global
  bool euclidean;
  const T* points;  ///< [n x dimension]
  T* out;           ///< [rows x n]
  unsigned columns_of = 0, items = 0;

  /// @throws Unsupported if the number of tiles exceeds 32 bits
  void share(int edge) {
    columns_of = static_cast<unsigned>(ceil_div(n, edge));
    const std::uint64_t all = std::uint64_t{columns_of} * static_cast<std::uint64_t>(ceil_div(rows, edge));
    if (all > std::numeric_limits<unsigned>::max() / 2) throw Unsupported("too many tiles of pairs");
    items = static_cast<unsigned>(all);
  }
};

/// Scratch of a team, in values: [pairs][threads], with a pitch without bank conflicts.
constexpr int split_scratch(int edge, int threads) { return edge * edge * (threads | 1); }

/// Computes tile `item`: each thread adds every `size`-th coordinate of all pairs, then the threads' sums are added in
/// the order of the threads. `scratch`: `split_scratch`. @pre all threads call
template <int edge, class T, class Group>
LEAGUE_FUNCTION void split_tile(const PairTiles<T>& tiles, unsigned item, const Group& group, T* scratch) {
  using std::sqrt;
  const int row0 = static_cast<int>(item / tiles.columns_of) * edge;  // of the block
  const int column0 = static_cast<int>(item % tiles.columns_of) * edge, pitch = group.size | 1;
  const auto clamped = [](int i, int count) { return i < count ? i : count - 1; };
  const T *x[edge], *y[edge];
  blocks::unrolled<edge>([&](int i) {
    x[i] = tiles.points + std::int64_t{tiles.first + clamped(row0 + i, tiles.rows)} * tiles.dimension;
    y[i] = tiles.points + std::int64_t{clamped(column0 + i, tiles.n)} * tiles.dimension;
  });
  T sum[edge][edge] = {};
  for (int k = group.rank; k < tiles.dimension; k += group.size) {
    T a[edge], b[edge];
    blocks::unrolled<edge>([&](int i) { a[i] = x[i][k], b[i] = y[i][k]; });
    blocks::unrolled<edge * edge>([&](int n) {
      T& of_pair = sum[n / edge][n % edge];
      of_pair = blocks::DifferenceTerm::add(of_pair, a[n / edge], b[n % edge]);
    });
  }
  blocks::unrolled<edge * edge>([&](int n) { scratch[n * pitch + group.rank] = sum[n / edge][n % edge]; });
  group.barrier();
  for (int pair = group.rank; pair < edge * edge; pair += group.size) {
    const int row = row0 + pair / edge, column = column0 + pair % edge;
    if (row >= tiles.rows || column >= tiles.n) continue;
    const T* of_threads = scratch + pair * pitch;
    const T squared = blocks::sum_in_order<16>(group.size, [of_threads](int thread) { return of_threads[thread]; });
    tiles.out[std::int64_t{row} * tiles.n + column] = tiles.euclidean ? sqrt(squared) : squared;
  }
  group.barrier();
}

/// Memory of `split_k`. The launch's tile is `edge`: 4 or 8.
template <class T, template <class> class Array>
struct SplitMemory {
  explicit SplitMemory(DistanceShard& shard) : problem(shard.problem()) { shard.declare_matrix(points, out, {}); }

  /// The default tile is the larger one if there are teams enough with that, of 32 threads; those of smaller tiles have
  /// up to 128, with several coordinates each. @throws Unsupported for another tile
  [[nodiscard]] Launch configure(Launch launch, const LaunchLimits& limits, bool on_gpu, std::int64_t rows) const {
    constexpr int max_default = sizeof(T) == 4 ? 128 : 64, min_default = 32, coordinates = 8, enough = 256;
    const bool many = ceil_div<std::int64_t>(rows, 8) * ceil_div<std::int64_t>(problem.n, 8) >= enough;
    int threads = min_default;
    while (!many && threads < max_default && threads * coordinates < problem.dimension) threads *= 2;
    launch = resolve(launch, {0, on_gpu ? threads : 1, 1, many ? 8 : 4}, limits);
    if (launch.tile != 4 && launch.tile != 8)
      throw Unsupported("tile " + std::to_string(launch.tile) + ": a team of this kernel takes 4 x 4 or 8 x 8 pairs");
    if (launch.league == 0) launch.league = league_of(tiles({0, rows}, launch).items);
    return launch;
  }
  [[nodiscard]] PairTiles<T> tiles(Range range, Launch launch) const {
    PairTiles<T> tiles{static_cast<int>(problem.n),
                       static_cast<int>(problem.dimension),
                       static_cast<int>(range.begin),
                       static_cast<int>(range.size()),
                       problem.euclidean,
                       points.data(),
                       out.data()};
    tiles.share(launch.tile);
    return tiles;
  }
  [[nodiscard]] static std::size_t scratch_bytes(Launch launch) {
    return static_cast<std::size_t>(split_scratch(launch.tile, launch.team * launch.vector)) * sizeof(T);
  }

  const DistanceMatrix& problem;
  Array<T> points, out;
};

/// Calls `body.operator()<edge>()` with the launch's tile.
template <class Body>
void with_edge(Launch launch, const Body& body) {
  if (launch.tile == 8) return body.template operator()<8>();
  return body.template operator()<4>();
}

}  // namespace league::distance_matrix
