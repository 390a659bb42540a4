// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <type_traits>

#include "algorithms/blocks/unit_tile.hpp"
#include "algorithms/distance_matrix/common/point_rows.hpp"
#include "algorithms/distance_matrix/common/tiles.hpp"

/// The methods by matrix units, the same in CUDA and Kokkos: `product` with the tile of a matrix unit.
namespace league::distance_matrix {

template <class T>
inline constexpr blocks::mma::Element element_of =
    std::is_same_v<T, float> ? blocks::mma::Element::f32 : blocks::mma::Element::f64;

/// 128 x 128 products in 32 KB of scratch. Floats: 128 threads, two teams per multiprocessor; doubles, whose sums take
/// twice the registers: 256 threads. On a host 16 x 16 for one thread.
template <class Unit>
inline constexpr int teams = sizeof(typename Unit::Word) == 4 ? 2 : 1;
template <class Unit, int across = 64 / Unit::lanes>
using TileOfUnits =
    std::conditional_t<Unit::lanes == 1, blocks::UnitTile<Unit, 1, 1, 1, 1, 0>,
                       blocks::UnitTile<Unit, 4 / teams<Unit>, across, 2 * teams<Unit>, (8 + across - 1) / across,
                                        16 / Unit::parts / static_cast<int>(sizeof(typename Unit::Word))>>;

/// A block of rows as tiles, whose operands are pieces.
template <class T, class Unit>
struct UnitWork {
  Tiles<T> tiles;
  blocks::mma::Pieces<Unit> pieces;
  const typename Unit::Word* packed;
  const T* inverse_scales;  ///< of all points, if they are split

  /// The corner of a work item's tile.
  template <bool mirror, class Tile>
  [[nodiscard]] LEAGUE_FUNCTION Corner corner(unsigned item) const {
    if constexpr (mirror)
      return tiles.upper_corner(item, Tile::rows);
    else
      return {tiles.row(item, Tile::rows), tiles.column(item, Tile::columns)};
  }
  /// The pieces of the tile's rows, or columns.
  [[nodiscard]] LEAGUE_FUNCTION const typename Unit::Word* pieces_of(int row) const {
    return packed + pieces.step(row, 0);
  }
  /// The factor of a sum for each of its two points.
  [[nodiscard]] LEAGUE_FUNCTION T scale(int point) const {
    if constexpr (Unit::parts == 2)
      return inverse_scales[point];
    else
      return 1;
  }
};

/// Epilogue: stores a thread's values of a tile; with `mirror`, only those above the diagonal, and their mirror images.
/// Neighbouring threads have neighbouring rows: both stores of a subgroup are in runs of at least 32 bytes.
template <bool mirror, class Values, class T, class Unit>
LEAGUE_FUNCTION void store_values(const UnitWork<T, Unit>& work, int thread, const Corner& corner,
                                  const Values& values) {
  using std::sqrt;
  constexpr int run = Unit::run, row_values = Values::row_values;
  using Run = blocks::Pack<T, run* static_cast<int>(sizeof(T))>;
  const Tiles<T>& tiles = work.tiles;
  T norms[row_values], scales[row_values];
  for (int i = 0; i < row_values; ++i) {
    const int column = corner.column + values.column(thread, i);
    norms[i] = tiles.norms[column];
    scales[i] = work.scale(column);
  }
  const bool whole_runs = tiles.n % run == 0 && !(mirror && corner.row == corner.column);
  values.for_rows(thread, [&](int of_tile, const T* sums) {
    const int row = corner.row + of_tile;
    if (row < tiles.first || row >= tiles.first + tiles.rows) return;
    const T norm = tiles.norms[row], scale = work.scale(row);
    T* const to = tiles.out + std::int64_t{row - tiles.first} * tiles.n;
    for (int i = 0; i < row_values; i += run) {
      const int first = corner.column + values.column(thread, i);
      Run found;
      for (int e = 0; e < run; ++e) {
        const T squared = expanded_distance(norm + norms[i + e], sums[i + e] * scale * scales[i + e], row == first + e);
        found.values[e] = tiles.euclidean ? sqrt(squared) : squared;
      }
      if (!whole_runs)
        for (int e = 0; e < run; ++e)
          if (first + e < tiles.n && !(mirror && first + e < row)) to[first + e] = found.values[e];
      if (whole_runs && first < tiles.n) *reinterpret_cast<Run*>(to + first) = found;
      for (int e = 0; mirror && e < run; ++e)
        if (first + e < tiles.n && first + e > row)
          tiles.out[std::int64_t{first + e} * tiles.n + row] = found.values[e];
    }
  });
}

/// Memory: all points as pieces, with their squared norms.
template <class T, class Tile, bool mirror, template <class> class Array>
struct UnitMemory {
  using Unit = typename Tile::Unit;
  static_assert(Tile::rows == Tile::columns);
  static constexpr bool is_split = Unit::parts == 2;

  explicit UnitMemory(DistanceShard& shard)
      : problem(shard.problem()), pieces(shard.problem().n, shard.problem().dimension, Tile::rows) {
    shard.declare(packed, "distance_matrix/packed", pieces.size());
    shard.declare(norms, "distance_matrix/norms", pieces.rows);
    if (is_split) shard.declare(inverse_scales, "distance_matrix/inverse_scales", pieces.rows);
    shard.declare_matrix(points, out,
                         {.expanded = true, .mirrored = mirror, .blocked = !mirror, .granule = Tile::rows});
  }
  [[nodiscard]] UnitWork<T, Unit> work(Range range) const {
    Tiles<T> tiles{static_cast<int>(problem.n),
                   static_cast<int>(range.begin),
                   static_cast<int>(range.size()),
                   problem.euclidean,
                   {},
                   nullptr,
                   norms.data(),
                   out.data()};
    if constexpr (mirror)
      tiles.template share_upper<Tile>();
    else
      tiles.template share<Tile>();
    return {tiles, pieces, packed.data(), inverse_scales.data()};
  }
  [[nodiscard]] auto rows() const {
    const int dimension = static_cast<int>(problem.dimension);
    if constexpr (is_split)
      return SplitRows<Unit>{points.data(), problem.n, dimension, norms.data(), inverse_scales.data()};
    else
      return PointRows<Unit, T>{points.data(), problem.n, dimension, norms.data()};
  }
  /// @throws Unsupported for a team size other than the tile's
  [[nodiscard]] Launch configure(Launch launch, const LaunchLimits& limits, std::int64_t block_rows) const {
    launch = resolve(launch, {0, Tile::threads, 1}, limits);
    if (launch.team != Tile::threads || launch.vector != 1)
      throw Unsupported("team size " + std::to_string(launch.team) + ", vector length " +
                        std::to_string(launch.vector) + ": the tile takes " + std::to_string(Tile::threads) + " and 1");
    if (launch.league == 0) launch.league = league_of(work({0, block_rows}).tiles.items);
    return launch;
  }

  const DistanceMatrix& problem;
  blocks::mma::Pieces<Unit> pieces;
  Array<T> points, out, norms, inverse_scales;
  Array<typename Unit::Word> packed;
};

/// A `Variant<T, Unit, mirror>`.
template <template <blocks::mma::Element> class Native, template <class, class, bool> class Variant, bool mirror>
static std::unique_ptr<IndependentShard> by_unit(const DistanceMatrix& problem, const Context& context,
                                                 const Shard& shard) {
  return with_type<float, double>(problem.dtype, [&]<class T>() -> std::unique_ptr<IndependentShard> {
    return std::make_unique<Variant<T, Native<element_of<T>>, mirror>>(problem, context, shard);
  });
}

}  // namespace league::distance_matrix
