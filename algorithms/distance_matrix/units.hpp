// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <type_traits>

#include "algorithms/blocks/pieces.hpp"
#include "algorithms/blocks/unit_tile.hpp"
#include "algorithms/distance_matrix/tiles.hpp"

/// What the method `mma` does in CUDA and Kokkos alike: `product`, its tile made by matrix units.
namespace league::distance_matrix {

template <class T>
inline constexpr blocks::mma::Element element_of =
    std::is_same_v<T, float> ? blocks::mma::Element::f32 : blocks::mma::Element::f64;

/// 128 x 128 products in 32 KB of scratch, of floats for 128 threads, two such teams on a multiprocessor, of doubles,
/// whose sums are twice as large, for 256; on a host, 16 x 16 for one thread.
template <class Unit>
inline constexpr int teams = sizeof(typename Unit::Word) == 4 ? 2 : 1;
template <class Unit, int across = 64 / Unit::lanes>
using TileOfUnits =
    std::conditional_t<Unit::lanes == 1, blocks::UnitTile<Unit, 1, 1, 1, 1, 0>,
                       blocks::UnitTile<Unit, 4 / teams<Unit>, across, 2 * teams<Unit>, (8 + across - 1) / across,
                                        16 / static_cast<int>(sizeof(typename Unit::Word))>>;

/// Points as they are, and their squared norms.
template <class Unit, class T>
struct PointRows {
  using Sum = double;
  static constexpr int sums = 1;
  const T* points;
  std::int64_t n;
  int dimension;
  T* norms;  ///< [rows of the pieces]

  LEAGUE_FUNCTION typename Unit::Word word(std::int64_t row, int begin, Sum* sum) const {
    static_assert(Unit::per_word == 1);
    const T value = row < n && begin < dimension ? points[row * dimension + begin] : T{0};
    sum[0] += static_cast<double>(value) * static_cast<double>(value);
    typename Unit::Word bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    return bits;
  }
  template <class Peak>
  LEAGUE_FUNCTION void finish(std::int64_t row, const Sum* sum, const Peak& /*peak*/) const {
    norms[row] = static_cast<T>(sum[0]);
  }
};

/// A block of rows as tiles, whose operands are pieces.
template <class T, class Unit>
struct UnitWork {
  Tiles<T> tiles;
  blocks::mma::Pieces<Unit> pieces;
  const typename Unit::Word* packed;

  /// Where the pieces of the tile's rows, or columns, begin.
  [[nodiscard]] LEAGUE_FUNCTION const typename Unit::Word* pieces_of(int row) const {
    return packed + pieces.step(row, 0);
  }
};

/// A thread's values of the tile at (row, column), to their places.
template <class Tile, class T>
LEAGUE_FUNCTION void store_values(const Tiles<T>& tiles, int thread, int row0, int column0,
                                  blocks::TileValues<Tile>& values) {
  using std::sqrt;
  constexpr int run = Tile::Unit::run;
  using Run = blocks::Pack<T, run* static_cast<int>(sizeof(T))>;
  values.for_runs(thread, [&](int i, int j, const T* sums) {
    const int row = row0 + i, column = column0 + j;
    if (row < tiles.first || row >= tiles.first + tiles.rows || column >= tiles.n) return;
    Run found;
    for (int e = 0; e < run; ++e) {
      const int there = column + e < tiles.n ? column + e : tiles.n - 1;
      const T squared = squared_distance<blocks::ProductTerm>(tiles, row, there, sums[e]);
      found.values[e] = tiles.euclidean ? sqrt(squared) : squared;
    }
    T* to = tiles.out + std::int64_t{row - tiles.first} * tiles.n + column;
    if (tiles.n % run == 0)
      *reinterpret_cast<Run*>(to) = found;
    else
      for (int e = 0; e < run && column + e < tiles.n; ++e) to[e] = found.values[e];
  });
}

/// All points as pieces, with their squared norms.
template <class T, class Unit, template <class> class Array>
struct UnitMemory {
  using Tile = TileOfUnits<Unit>;
  static_assert(Tile::rows == Tile::columns);

  explicit UnitMemory(DistancePart& part)
      : problem(part.problem()), pieces(part.problem().n, part.problem().dimension, Tile::rows) {
    part.declare(packed, "distance_matrix/packed", pieces.size());
    part.declare(norms, "distance_matrix/norms", pieces.rows);
    part.declare_matrix(points, out, form_of(Kind::product, Tile::rows));
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
    tiles.template share<Tile>();
    return {tiles, pieces, packed.data()};
  }
  [[nodiscard]] PointRows<Unit, T> rows() const {
    return {points.data(), problem.n, static_cast<int>(problem.dimension), norms.data()};
  }
  /// @throws Unsupported for another team than the tile's
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
  Array<T> points, out, norms;
  Array<typename Unit::Word> packed;
};

/// A `Variant<T, Unit>`.
template <template <blocks::mma::Element> class Native, template <class, class> class Variant>
std::unique_ptr<Part> by_unit(const DistanceMatrix& problem, const Context& context, const Shard& shard) {
  return with_type<float, double>(problem.dtype, [&]<class T>() -> std::unique_ptr<Part> {
    return std::make_unique<Variant<T, Native<element_of<T>>>>(problem, context, shard);
  });
}

}  // namespace league::distance_matrix
