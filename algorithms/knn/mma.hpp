// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include "algorithms/blocks/unit_tile.hpp"
#include "algorithms/knn/part.hpp"
#include "backends/launch.hpp"

/// What the kernels of the method `mma` work on, in CUDA and Kokkos alike: `fused`, with products of bytes by matrix
/// units.
namespace league::knn {

/// A word of four pixels as matrix units take them: 128 less, which changes no distance.
struct FourPixels {
  std::int8_t values[4] = {};
  [[nodiscard]] LEAGUE_FUNCTION std::uint32_t bits() const {
    std::uint32_t word;
    __builtin_memcpy(&word, values, sizeof word);
    return word;
  }
  /// The sum of their squares.
  [[nodiscard]] LEAGUE_FUNCTION std::int32_t norm() const {
    std::int32_t sum = 0;
    for (const std::int32_t value : values) sum += value * value;
    return sum;
  }
};

/// Those of `row` from `begin` on; what lies beyond the features, or a row that is not there, becomes 0. A multiple of
/// four features is loaded four at a time.
template <class T>
LEAGUE_FUNCTION FourPixels pixels_of(const T* row, bool is_there, int begin, int features) {
  using Four = blocks::Pack<T, 4 * static_cast<int>(sizeof(T))>;
  FourPixels four;
  if (!is_there || begin >= features) return four;
  const auto put = [&](int i, T value) { four.values[i] = static_cast<std::int8_t>(static_cast<int>(value) - 128); };
  if (features % 4 == 0) {
    const Four loaded = *reinterpret_cast<const Four*>(row + begin);
    for (int i = 0; i < 4; ++i) put(i, loaded.values[i]);
  } else {
    for (int i = 0; i < 4 && begin + i < features; ++i) put(i, row[begin + i]);
  }
  return four;
}

/// Packs a lane's part of a step's piece of 16 rows from `first` on, and adds the squares to `norms`, those of its
/// rows.
template <class Unit, class T>
LEAGUE_FUNCTION void pack_part(const T* data, std::int64_t n, int features, const blocks::mma::Pieces<Unit>& pieces,
                               std::int64_t first, int step, int lane, typename Unit::Word* packed,
                               std::int32_t (&norms)[Unit::lane_rows]) {
  auto* to = packed + pieces.step(first, step) + first % pieces.height / blocks::mma::side * blocks::mma::piece_words;
  for (int i = 0; i < Unit::share; ++i) {
    const auto place = Unit::word_of(lane, i);
    const int begin = (step * blocks::mma::words + place.word) * Unit::per_word;
    const std::int64_t row = first + place.row;
    const FourPixels four = pixels_of(data + row * features, row < n, begin, features);
    to[lane * Unit::share + i] = four.bits();
    norms[i % Unit::lane_rows] += four.norm();
  }
}

/// The tile of a team, and its scratch: the stages of the operands, the reach of each query, and a pool of products
/// that are within reach of their query: [slots] places (query and column of the tile), [slots] keys, and two counters.
template <class Tile_>
struct MmaTeam {
  using Tile = Tile_;
  static constexpr bool alone = Tile::threads == 1;
  static constexpr int slots = alone ? Tile::rows * Tile::columns : 352;
  static constexpr int scratch_bytes = Tile::scratch_bytes + (Tile::rows + 2 * slots + 4) * 4;
};

/// A work item is a tile of queries and a chunk of the training rows, and keeps lists of its own: the k best of its
/// chunk, by key |y|^2 - 2 x.y, which orders as the distance does, and index. All keys are exact.
template <class Unit>
struct MmaWork {
  using Word = typename Unit::Word;
  using Pieces = blocks::mma::Pieces<Unit>;
  const Word *test, *train;  ///< in pieces
  Pieces test_pieces, train_pieces;
  const std::int32_t* norms;  ///< of the training rows; `no_row` where there is none
  std::int64_t queries;
  int k, chunk;           ///< training rows of a work item: whole tiles
  std::int32_t* reach;    ///< [queries] no farther key can be among the k best of all chunks
  std::int32_t* keys;     ///< [chunks][k][test rows]
  std::int32_t* indices;  ///< alike

  /// Keys of up to 1,024 pixels are between -3 and 3 times 2^24. The reach of a query of which nothing is known yet;
  /// the squared norm of a row that is not there: beyond every reach; a product that reaches nothing.
  static constexpr std::int32_t unlimited = (1 << 30) - 1, no_row = 1 << 30, gone = -(1 << 29);

  LEAGUE_FUNCTION int tiles() const { return static_cast<int>(test_pieces.rows / test_pieces.height); }
  LEAGUE_FUNCTION int chunks() const { return static_cast<int>((train_pieces.rows + chunk - 1) / chunk); }
  /// Tiles of training rows in a chunk.
  LEAGUE_FUNCTION int tiles_of(int chunk_number) const {
    const std::int64_t begin = std::int64_t{chunk_number} * chunk, end = begin + chunk;
    return static_cast<int>(((end < train_pieces.rows ? end : train_pieces.rows) - begin) / train_pieces.height);
  }
  LEAGUE_FUNCTION blocks::KBest<std::int32_t, std::int32_t> list(std::int64_t chunk_number, std::int64_t query) const {
    const std::int64_t first = chunk_number * k * test_pieces.rows + query;
    return {keys + first, indices + first, k, test_pieces.rows};
  }
  /// The k best of all lists of a query.
  LEAGUE_FUNCTION void merge(std::int64_t query, const blocks::KBest<double, std::int64_t>& best) const {
    best.clear();
    merge_lists(chunks(), reach[query], [&](int chunk_number) { return list(chunk_number, query); }, best);
  }
};

/// The launch with its chunk in whole tiles, and its league.
/// @throws Unsupported for another team than the tile's
template <class Tile>
Launch with_whole_tiles(Launch launch, std::int64_t train_rows, std::int64_t test_rows) {
  if (launch.team != Tile::threads || launch.vector != 1)
    throw Unsupported("team size " + std::to_string(launch.team) + ", vector length " + std::to_string(launch.vector) +
                      ": the tile of this kernel takes " + std::to_string(Tile::threads) + " and 1");
  launch.tile = static_cast<int>(
      ceil_div<std::int64_t>(std::min<std::int64_t>(launch.tile, train_rows), Tile::columns) * Tile::columns);
  const std::int64_t items = ceil_div<std::int64_t>(train_rows, launch.tile) * (test_rows / Tile::rows);
  if (items > max_league)
    throw Unsupported(std::to_string(items) + " work items: this kernel counts up to " + std::to_string(max_league) +
                      "; take a larger tile");
  if (launch.league == 0) launch.league = league_of(items);
  return launch;
}

/// Packed rows with their norms, and the lists of all work items.
template <class T, class Tile, template <class> class Array>
struct MmaMemory {
  using Unit = typename Tile::Unit;
  using Word = typename Unit::Word;

  MmaMemory(Part& part, const Knn& problem)
      : knn(part, problem),
        train_pieces(knn.n, knn.features, Tile::columns),
        test_pieces(knn.m, knn.features, Tile::rows) {
    part.declare(train, "knn/packed_train", train_pieces.size());
    part.declare(test, "knn/packed_test", test_pieces.size());
    part.declare(train_norms, "knn/train_norms", train_pieces.rows);
    part.declare(reach, "knn/reach", knn.m);
  }
  /// The launch as above; declares the lists that it needs.
  Launch configure(Part& part, Launch launch, const LaunchLimits& limits) {
    const int chunk = std::max(512, 64 * knn.k);
    launch = with_whole_tiles<Tile>(resolve(launch, {0, Tile::threads, 1, chunk}, limits), train_pieces.rows,
                                    test_pieces.rows);
    const std::int64_t chunks = ceil_div<std::int64_t>(train_pieces.rows, launch.tile);
    part.declare(keys, "knn/keys", chunks * knn.k * test_pieces.rows);
    part.declare(indices, "knn/indices", chunks * knn.k * test_pieces.rows);
    return launch;
  }
  [[nodiscard]] MmaWork<Unit> work(int chunk) const {
    return {test.data(), train.data(), test_pieces,  train_pieces, train_norms.data(), knn.m,
            knn.k,       chunk,        reach.data(), keys.data(),  indices.data()};
  }

  Memory<T, Array> knn;
  blocks::mma::Pieces<Unit> train_pieces, test_pieces;
  Array<Word> train, test;
  Array<std::int32_t> train_norms, reach, keys, indices;
};

/// A `Variant<T>` for pixels.
template <template <class> class Variant>
std::unique_ptr<Part> by_pixel(const Knn& problem, const Context& context, const Shard& shard) {
  if (!problem.exact)
    throw Unsupported("its products are of bytes: features must be pixels, whole numbers from 0 to 255, " +
                      std::to_string(Knn::exact_features) + " of them at most; `fused` takes all");
  return with_type<float, std::int32_t, std::uint8_t>(problem.dtype, [&]<class T>() -> std::unique_ptr<Part> {
    return std::make_unique<Variant<T>>(problem, context, shard);
  });
}

}  // namespace league::knn
