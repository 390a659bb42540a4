// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "algorithms/blocks/k_best.hpp"
#include "algorithms/blocks/unit_tile.hpp"
#include "algorithms/knn/common/mma_rows.hpp"
#include "algorithms/knn/common/vote.hpp"

/// Arguments of the kernels of `mma`, the same in CUDA and Kokkos.
namespace league::knn {

/// 128 x 128 products for 128 threads, two such teams on a multiprocessor: one multiplies while the other waits at a
/// barrier or is in its epilogue. On a host, 16 x 16 for one thread.
inline constexpr int mma_teams = 2;
template <class Unit, int across = 64 / Unit::lanes>
using MmaTile = std::conditional_t<Unit::lanes == 1, blocks::UnitTile<Unit, 1, 1, 1, 1, 0>,
                                   blocks::UnitTile<Unit, 2, across, 4, (8 + across - 1) / across, 4>>;

/// A key |y|^2 - 2 x.y and its training row as one integer in the order of the selection: by key, ties to the lower
/// row.
using Candidate = unsigned long long;
inline constexpr Candidate no_candidate = ~Candidate{0};
template <class Key>
LEAGUE_FUNCTION Candidate candidate_of(Key key, std::int64_t row) {
  const auto bits = static_cast<std::uint32_t>(KeyLimits<Key>::to_ordered(key)) ^ 0x80000000U;
  return static_cast<Candidate>(bits) << 32 | static_cast<Candidate>(row);
}
template <class Key>
LEAGUE_FUNCTION Key key_of(Candidate candidate) {
  const auto bits = static_cast<std::uint32_t>(candidate >> 32) ^ 0x80000000U;
  return KeyLimits<Key>::from_ordered(static_cast<std::int32_t>(bits));
}
LEAGUE_FUNCTION std::int64_t row_of(Candidate candidate) {
  return static_cast<std::int64_t>(candidate & 0xffffffffULL);
}

/// The smaller of two; NaN is never smaller.
template <class T>
LEAGUE_FUNCTION T lesser(T value, T other) {
  return other < value ? other : value;
}

/// The scratch of a team: the stages of the operands, the threshold of each query, and a pool of candidates to be
/// appended to the lists: [slots] candidates, [slots] rows of the tile, and two counters.
template <class Tile_>
struct MmaTeam {
  using Tile = Tile_;
  static constexpr int slots = 240;
  static constexpr int scratch_bytes = Tile::scratch_bytes + Tile::rows * 4 + slots * 12 + 16;
  Candidate* pool;
  typename Tile::Word* stages;
  typename Tile::Sum* threshold;
  int *places, *pushed;

  LEAGUE_FUNCTION explicit MmaTeam(void* scratch)
      : pool(static_cast<Candidate*>(scratch)),
        stages(reinterpret_cast<typename Tile::Word*>(pool + slots)),
        threshold(reinterpret_cast<typename Tile::Sum*>(stages + Tile::scratch_bytes / sizeof(*stages))),
        places(reinterpret_cast<int*>(threshold + Tile::rows)),
        pushed(places + slots) {}
};

/// Selection in three passes. The first takes a sample of the training rows and keeps the smallest candidate of each
/// thread's group of rows in a tile; the k-th smallest of a query's minima is its threshold: no farther row is among
/// its k nearest. The second takes all rows, and appends candidates within the threshold to the query's list. The third
/// selects from the list. Keys of pixels are exact. Other keys have an error of at most half of the query's `slack`:
/// all candidates within the slack of the k-th key are then compared by distances in double. A query whose list
/// overflows, or whose slack is infinite, is compared with all training rows in double.
template <class Tile_>
struct MmaWork {
  using Tile = Tile_;
  using Unit = typename Tile::Unit;
  using Word = typename Unit::Word;
  using Key = typename Unit::Sum;
  using Limits = KeyLimits<Key>;
  using TestPieces = blocks::mma::Pieces<Unit, blocks::mma::Operand::a>;
  using TrainPieces = blocks::mma::Pieces<Unit, blocks::mma::Operand::b>;
  static constexpr bool exact = std::is_same_v<Key, std::int32_t>;
  const Word *test, *train;  ///< in pieces
  TestPieces test_pieces;
  TrainPieces train_pieces;
  const Key *norms, *test_norms;  ///< of the training rows as packed, Limits::no_row() for padding; of queries
  std::int64_t queries;
  int k, chunk;          ///< chunk: tiles per work item
  int samples, groups;   ///< sampled tiles; groups of their rows
  const float* slack;    ///< [queries]; null: none
  Candidate* minima;     ///< [test rows][groups]
  Candidate* threshold;  ///< [test rows] larger ones are skipped
  int room;
  Candidate* lists;      ///< [queries][room]
  std::int32_t* counts;  ///< [queries] how many were within the threshold, including those that did not fit

  LEAGUE_FUNCTION int query_tiles() const { return static_cast<int>(test_pieces.rows / Tile::rows); }
  LEAGUE_FUNCTION int tiles() const { return static_cast<int>(train_pieces.rows / Tile::columns); }
  /// Number of work items over the first `tiles_` tiles of training rows.
  LEAGUE_FUNCTION int items(int tiles_) const { return query_tiles() * ((tiles_ + chunk - 1) / chunk); }
  LEAGUE_FUNCTION const Word* test_at(int query) const { return test + test_pieces.step(query, 0); }
  LEAGUE_FUNCTION const Word* train_at(int tile) const {
    return train + train_pieces.step(std::int64_t{tile} * Tile::columns, 0);
  }
  LEAGUE_FUNCTION Key norm(int tile, int column) const { return norms[std::int64_t{tile} * Tile::columns + column]; }
  LEAGUE_FUNCTION Candidate candidate(int tile, int column, Key key) const {
    return candidate_of(key, std::int64_t{column} * tiles() + tile);  // rows are dealt round-robin
  }
  /// The threshold of a query whose k-th smallest sampled candidate is `kth`.
  LEAGUE_FUNCTION Candidate threshold_of(std::int64_t query, Candidate kth) const {
    const Candidate all = candidate_of(Limits::unlimited(), 0xffffffffLL);
    if (exact || kth > all) return kth < all ? kth : all;
    if (by_all_rows(query)) return candidate_of(Limits::nothing(), 0);
    return candidate_of(key_of<Key>(kth) + static_cast<Key>(slack[query]), 0xffffffffLL);
  }
  /// Squared distance to a candidate; exact for pixels.
  LEAGUE_FUNCTION double squared(std::int64_t query, Candidate candidate) const {
    return static_cast<double>(key_of<Key>(candidate)) + static_cast<double>(test_norms[query]);
  }
  /// Whether the slack is infinite or the list has overflowed.
  LEAGUE_FUNCTION bool by_all_rows(std::int64_t query) const {
    return counts[query] > room || (!exact && !(slack[query] < KeyLimits<float>::unlimited()));
  }
  /// Appends to the list of a query. `take(counter)`: atomic fetch-and-add of 1.
  template <class Take>
  LEAGUE_FUNCTION void append(std::int64_t query, Candidate candidate, const Take& take) const {
    const std::int32_t place = take(counts + query);
    if (place < room) lists[query * room + place] = candidate;
  }
};

/// The original rows, and the results.
template <class T>
struct NearestRows {
  std::int64_t n;
  int features, k;
  Votes votes;
  const T *test, *train;
  const std::int32_t* train_labels;
  double* distances;
  std::int64_t* neighbours;
  std::int32_t* labels;

  LEAGUE_FUNCTION const T* test_row(std::int64_t query) const { return test + query * features; }
  LEAGUE_FUNCTION const T* train_row(std::int64_t row) const { return train + row * features; }
  /// The `count` nearest so far, with room for one more up to k.
  LEAGUE_FUNCTION blocks::KBest<double, std::int64_t> list(std::int64_t query, std::int64_t count) const {
    const int size = count < k ? static_cast<int>(count) + 1 : k;
    const blocks::KBest<double, std::int64_t> nearest{distances + query * k, neighbours + query * k, size, 1};
    if (count < k) nearest.keys[count] = nearest.none, nearest.indices[count] = nearest.last;
    return nearest;
  }
  /// Takes the roots of the squared distances, and votes.
  LEAGUE_FUNCTION void vote(std::int64_t query) const {
    using std::sqrt;
    for (int i = 0; i < k; ++i) distances[query * k + i] = sqrt(distances[query * k + i]);
    labels[query] = winner(votes, k, neighbours + query * k, distances + query * k, train_labels);
  }
};

}  // namespace league::knn
