// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <type_traits>

#include "algorithms/blocks/unit_tile.hpp"
#include "algorithms/knn/mma_rows.hpp"
#include "algorithms/knn/part.hpp"
#include "backends/launch.hpp"

/// What the kernels of the method `mma` work on, in CUDA and Kokkos alike: `fused`, with products of bytes by matrix
/// units.
namespace league::knn {

/// 256 x 128 products for 256 threads; on a host, 16 x 16 for one.
template <class Unit, int across = 64 / Unit::lanes>
using MmaTile = std::conditional_t<Unit::lanes == 1, blocks::UnitTile<Unit, 1, 1, 1, 1, 0>,
                                   blocks::UnitTile<Unit, 4, across, 4, (8 + across - 1) / across, 3>>;

/// The tile of a team, and its scratch: the stages of the operands, the reach of each query, and a pool of products
/// that are within reach of their query: [slots] keys, [slots] places (query and column of the tile), and two counters.
template <class Tile_>
struct MmaTeam {
  using Tile = Tile_;
  static constexpr bool alone = Tile::threads == 1;
  static constexpr int slots = alone ? Tile::rows * Tile::columns : 352;
  static constexpr int scratch_bytes = Tile::scratch_bytes + (Tile::rows + 2 * slots + 4) * 4;
};

/// A work item is a tile of queries and a chunk of the training rows, and keeps lists of its own: the `kept` best of
/// its chunk, by key |y|^2 - 2 x.y, which orders as the distance does, and index. Keys of pixels are exact, and k are
/// kept. All others are right within half of a query's `slack`: then all within the slack of the k-th may be among the
/// k best, and where more than are kept are, the list says so by its last key.
template <class Unit>
struct MmaWork {
  using Word = typename Unit::Word;
  using Key = typename Unit::Sum;
  using Limits = KeyLimits<Key>;
  using Pieces = blocks::mma::Pieces<Unit>;
  using List = blocks::KBest<Key, std::int32_t>;
  const Word *test, *train;  ///< in pieces
  Pieces test_pieces, train_pieces;
  const Key* norms;  ///< of the training rows; Limits::no_row() where there is none
  std::int64_t queries;
  int k, kept, chunk;     ///< chunk: training rows of a work item, whole tiles
  const float* slack;     ///< [queries]; null: none
  std::int32_t* reach;    ///< [queries] ordered(key): no farther key matters
  Key* keys;              ///< [chunks][kept][test rows]
  std::int32_t* indices;  ///< alike

  LEAGUE_FUNCTION int tiles() const { return static_cast<int>(test_pieces.rows / test_pieces.height); }
  LEAGUE_FUNCTION int chunks() const { return static_cast<int>((train_pieces.rows + chunk - 1) / chunk); }
  /// Tiles of training rows in a chunk.
  LEAGUE_FUNCTION int tiles_of(int chunk_number) const {
    const std::int64_t begin = std::int64_t{chunk_number} * chunk, end = begin + chunk;
    return static_cast<int>(((end < train_pieces.rows ? end : train_pieces.rows) - begin) / train_pieces.height);
  }
  LEAGUE_FUNCTION List list(std::int64_t chunk_number, std::int64_t query) const {
    const std::int64_t first = chunk_number * kept * test_pieces.rows + query;
    return {keys + first, indices + first, kept, test_pieces.rows};
  }
  /// What a key must not exceed to matter, as far as a list of the query tells.
  LEAGUE_FUNCTION Key reach_of(const List& list, std::int64_t query) const {
    const Key last = list.reach();
    if (slack == nullptr) return last;
    const Key near = list.keys[(k - 1) * list.stride] + static_cast<Key>(slack[query]);
    return near < last ? near : last;
  }
  /// The `kept` best of all lists of a query.
  LEAGUE_FUNCTION void merge(std::int64_t query, const blocks::KBest<double, std::int64_t>& best) const {
    best.clear();
    merge_lists(
        chunks(), Limits::from_ordered(reach[query]), [&](int chunk_number) { return list(chunk_number, query); },
        best);
  }
};

/// The candidates of a query, by key, for those whose keys are not exact.
struct Candidates {
  const double* keys;
  const std::int64_t* indices;
  double reach;        ///< none with a larger key can be among the k best
  std::int64_t count;  ///< that are looked at: the rows of `indices`, or, where too many are within reach, all rows
  bool all;

  LEAGUE_FUNCTION Candidates(const double* keys_, const std::int64_t* indices_, int k, int kept, double slack,
                             std::int64_t n)
      : keys(keys_), indices(indices_), reach(keys_[k - 1] + slack), count(kept), all(false) {
    const double none = blocks::KBest<double, std::int64_t>::none;
    all = !(keys[k - 1] < none) || keys[kept - 1] <= reach;
    if (all) count = n;
  }
  [[nodiscard]] LEAGUE_FUNCTION bool reaches(std::int64_t i) const { return all || keys[i] <= reach; }
  [[nodiscard]] LEAGUE_FUNCTION std::int64_t row(std::int64_t i) const { return all ? i : indices[i]; }
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
template <class Unit_, class T_, template <class> class Array>
struct MmaMemory {
  using Unit = Unit_;
  using T = T_;
  using Tile = MmaTile<Unit>;
  using Key = typename Unit::Sum;
  static constexpr bool exact = std::is_same_v<Key, std::int32_t>;
  static constexpr int spare = exact ? 0 : 48;  ///< candidates that are kept beyond the k best

  MmaMemory(Part& part, const Knn& problem)
      : knn(part, problem),
        train_pieces(knn.n, knn.features, Tile::columns),
        test_pieces(knn.m, knn.features, Tile::rows) {
    part.declare(train, "knn/packed_train", train_pieces.size());
    part.declare(test, "knn/packed_test", test_pieces.size());
    part.declare(norms, "knn/train_norms", train_pieces.rows);
    part.declare(reach, "knn/reach", knn.m);
    if (exact) return;
    part.declare(centre, "knn/centre", knn.features);
    part.declare(lengths, "knn/lengths", 2 * (train_pieces.rows + test_pieces.rows) + lengths_before);
    part.declare(slack, "knn/slack", knn.m);
    part.declare(candidate_keys, "knn/candidate_keys", knn.m * kept());
    part.declare(candidates, "knn/candidates", knn.m * kept());
  }
  /// The launch as above; declares the lists that it needs.
  Launch configure(Part& part, Launch launch, const LaunchLimits& limits) {
    const int chunk = std::max(exact ? 512 : 4096, 64 * knn.k);
    launch = with_whole_tiles<Tile>(resolve(launch, {0, Tile::threads, 1, chunk}, limits), train_pieces.rows,
                                    test_pieces.rows);
    const std::int64_t chunks = ceil_div<std::int64_t>(train_pieces.rows, launch.tile);
    part.declare(keys, "knn/keys", chunks * kept() * test_pieces.rows);
    part.declare(indices, "knn/indices", chunks * kept() * test_pieces.rows);
    return launch;
  }
  [[nodiscard]] int kept() const { return knn.k + spare; }
  [[nodiscard]] MmaWork<Unit> work(int chunk) const {
    return {test.data(), train.data(), test_pieces,  train_pieces, norms.data(), knn.m,         knn.k,
            kept(),      chunk,        slack.data(), reach.data(), keys.data(),  indices.data()};
  }
  [[nodiscard]] float* widest() const { return lengths.data() + lengths_before - 1; }
  /// Rows as the unit takes them.
  [[nodiscard]] auto train_rows() const { return rows_of(knn.train, knn.n, norms.data(), 0); }
  [[nodiscard]] auto test_rows() const {
    return rows_of(knn.test, knn.m, static_cast<Key*>(nullptr), train_pieces.rows);
  }

  Memory<T, Array> knn;
  blocks::mma::Pieces<Unit> train_pieces, test_pieces;
  Array<typename Unit::Word> train, test;
  Array<Key> norms, keys;
  Array<std::int32_t> reach, indices;
  Array<float> centre, slack;
  static constexpr int lengths_before = 5;
  Array<float> lengths;  ///< the most of both operands, how wide some rows are; then sizes and errors of all rows
  Array<double> candidate_keys;
  Array<std::int64_t> candidates;

 private:
  template <class Data>
  [[nodiscard]] auto rows_of(const Data& data, std::int64_t n, Key* norms_of, std::int64_t before) const {
    const int features = static_cast<int>(knn.features);
    if constexpr (exact)
      return PixelRows<Unit, T>{data.data(), n, features, norms_of};
    else
      return RealRows<Unit>{data.data(),
                            n,
                            features,
                            centre.data(),
                            widest(),
                            norms_of,
                            lengths_of(before, before == 0 ? train_pieces.rows : test_pieces.rows)};
  }
  [[nodiscard]] Lengths lengths_of(std::int64_t before, std::int64_t rows) const {
    float* first = lengths.data() + lengths_before + 2 * before;
    return {first, first + rows, lengths.data() + (before == 0 ? 0 : 2)};
  }
};

/// A `Variant<Unit, T>`: pixels of any type as bytes, other numbers rounded to f16, on hosts, which have no unit for
/// it, to bf16.
template <template <blocks::mma::Element> class Native, template <class, class> class Variant>
std::unique_ptr<Part> by_unit(const Knn& problem, const Context& context, const Shard& shard) {
  using blocks::mma::Element;
  constexpr Element real = Native<Element::f16>::lanes == 1 ? Element::bf16 : Element::f16;
  if (!problem.exact) return std::make_unique<Variant<Native<real>, float>>(problem, context, shard);
  return with_type<float, std::int32_t, std::uint8_t>(problem.dtype, [&]<class T>() -> std::unique_ptr<Part> {
    return std::make_unique<Variant<Native<Element::s8>, T>>(problem, context, shard);
  });
}

}  // namespace league::knn
