// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "algorithms/knn/common/mma_work.hpp"
#include "algorithms/knn/common/shard.hpp"
#include "backends/launch.hpp"

/// Memory and launches of the method `mma`, the same in CUDA and Kokkos: `fused`, with products by matrix units.
namespace league::knn {

/// Packed rows with their norms, samples and lists.
template <class Tile_, class T_, template <class> class Array>
struct MmaMemory {
  using Tile = Tile_;
  using Unit = typename Tile::Unit;
  using T = T_;
  using Key = typename Unit::Sum;
  static constexpr bool exact = MmaWork<Tile>::exact;
  static constexpr int sampled_chunk = Unit::lanes == 1 ? 32 : 2;  ///< tiles per work item of the first pass

  MmaMemory(IndependentShard& shard, const Knn& problem)
      : knn(shard, problem), train_pieces(knn.n, padded(), Tile::columns), test_pieces(knn.m, padded(), Tile::rows) {
    shard.declare(train, "knn/packed_train", train_pieces.size());
    shard.declare(test, "knn/packed_test", test_pieces.size());
    shard.declare(norms, "knn/train_norms", train_pieces.rows);
    shard.declare(test_norms, "knn/test_norms", test_pieces.rows);
    shard.declare(minima, "knn/minima", test_pieces.rows * groups());
    shard.declare(threshold, "knn/threshold", test_pieces.rows);
    shard.declare(lists, "knn/lists", knn.m * room());
    shard.declare(counts, "knn/counts", knn.m);
    if (exact) return;
    shard.declare(centre, "knn/centre", knn.features);
    shard.declare(lengths, "knn/lengths", 2 * (train_pieces.rows + test_pieces.rows) + lengths_before);
    shard.declare(slack, "knn/slack", knn.m);
  }
  /// Launch of the pass over all rows, its chunk in whole tiles.
  /// @throws Unsupported for a team size other than the tile's, and for more rows than a candidate's index bits hold
  [[nodiscard]] Launch configure(Launch launch, const LaunchLimits& limits) const {
    const std::int64_t tiles = (train_pieces.rows / Tile::columns) * (test_pieces.rows / Tile::rows);
    const auto chunk =
        Unit::lanes == 1 ? 32 : std::clamp<std::int64_t>(tiles / 1024, 1, 16);  // occupy all multiprocessors
    launch = resolve(launch, {0, Tile::threads, 1, static_cast<int>(chunk) * Tile::columns}, limits);
    if (launch.team != Tile::threads || launch.vector != 1)
      throw Unsupported("team size " + std::to_string(launch.team) + ", vector length " +
                        std::to_string(launch.vector) + ": the tile of this kernel takes " +
                        std::to_string(Tile::threads) + " and 1");
    if (train_pieces.rows > std::int64_t{1} << 32)
      throw Unsupported(std::to_string(knn.n) + " training rows: mma numbers them in 32 bits; take fused");
    launch.tile = static_cast<int>(
        ceil_div<std::int64_t>(std::min<std::int64_t>(launch.tile, train_pieces.rows), Tile::columns) * Tile::columns);
    const std::int64_t items = ceil_div<std::int64_t>(train_pieces.rows, launch.tile) * (test_pieces.rows / Tile::rows);
    if (items > max_league)
      throw Unsupported(std::to_string(items) + " work items: this kernel counts up to " + std::to_string(max_league) +
                        "; take a larger tile");
    if (launch.league == 0) launch.league = league_of(items);
    return launch;
  }
  [[nodiscard]] MmaWork<Tile> work(int chunk) const {
    return {test.data(), train.data(), test_pieces,  train_pieces, norms.data(), test_norms.data(), knn.m,
            knn.k,       chunk,        samples(),    groups(),     slack.data(), minima.data(),     threshold.data(),
            room(),      lists.data(), counts.data()};
  }
  [[nodiscard]] NearestRows<T> nearest() const {
    return {knn.n,
            static_cast<int>(knn.features),
            knn.k,
            knn.votes,
            knn.test.data(),
            knn.train.data(),
            knn.train_labels.data(),
            knn.distances.data(),
            knn.neighbours.data(),
            knn.labels.data()};
  }
  /// Number of sampled tiles. The sample costs time in proportion to it, the candidates in inverse proportion; the sum
  /// is minimal at a sample that grows with sqrt(k), measured as one tile in twelve at k = 3. At least twice as many
  /// groups of rows as neighbours.
  [[nodiscard]] int samples() const {
    const auto tiles = static_cast<int>(train_pieces.rows / Tile::columns);
    const double share = std::min(0.5, std::sqrt(knn.k / 3.0) / 12);
    return std::min(tiles,
                    std::max(static_cast<int>(std::ceil(tiles * share)), ceil_div(2 * knn.k, Tile::row_threads)));
  }
  [[nodiscard]] int groups() const { return samples() * Tile::row_threads; }
  /// Capacity of a list. With rows in random order, k / (sampled share) of them are expected within the threshold, with
  /// a relative deviation of 1 / sqrt(k); six deviations, plus room for the tail at small k, overflow less than one
  /// list in a million.
  [[nodiscard]] int room() const {
    const double k = knn.k, tiles = static_cast<double>(train_pieces.rows / Tile::columns);
    const double reached = tiles / samples() * (k + 6 * std::sqrt(k) + 12) * (1 + k / groups());
    return static_cast<int>(std::min(std::ceil(reached / 32) * 32, static_cast<double>(knn.n)));
  }
  /// Of the last compute: candidates in the lists, and queries whose lists overflowed. Waits for `queue`.
  [[nodiscard]] Counts counted(Queue& queue) const {
    std::vector<std::int32_t> reached(static_cast<std::size_t>(knn.m));
    std::vector<float> slacks(exact ? 0 : reached.size());
    counts.copy_to(std::span(reached));
    if (!exact) slack.copy_to(std::span(slacks));
    queue.fence();
    MmaWork<Tile> on_host = work(1);
    on_host.counts = reached.data(), on_host.slack = slacks.data();
    std::int64_t candidates = 0, by_all_rows = 0;
    for (std::int64_t query = 0; query < knn.m; ++query) {
      candidates += std::min(reached[static_cast<std::size_t>(query)], room());
      by_all_rows += on_host.by_all_rows(query) ? 1 : 0;
    }
    return {{"candidates", candidates}, {"queries_by_all_rows", by_all_rows}};
  }
  [[nodiscard]] float* widest() const { return lengths.data() + lengths_before - 1; }
  /// Rows converted for the unit.
  [[nodiscard]] auto train_rows() const {
    return rows_of(knn.train, Dealt<Tile::columns>{train_pieces.rows / Tile::columns}, knn.n, norms, train_lengths());
  }
  [[nodiscard]] auto test_rows() const { return rows_of(knn.test, Dealt<1>{0}, knn.m, test_norms, test_lengths()); }
  [[nodiscard]] Lengths train_lengths() const { return lengths_of(0, train_pieces.rows, 0); }
  [[nodiscard]] Lengths test_lengths() const { return lengths_of(train_pieces.rows, test_pieces.rows, 2); }

  Memory<T, Array> knn;
  typename MmaWork<Tile>::TrainPieces train_pieces;
  typename MmaWork<Tile>::TestPieces test_pieces;
  Array<typename Unit::Word> train, test;
  Array<Key> norms, test_norms;
  Array<Candidate> minima, threshold, lists;
  Array<std::int32_t> counts;
  Array<float> centre, slack;
  static constexpr int lengths_before = 5;
  Array<float> lengths;  ///< the maxima of both operands, the width of some rows; then sizes and errors of all rows

 private:
  /// Features padded to whole steps of the tile.
  [[nodiscard]] std::int64_t padded() const { return ceil_div<std::int64_t>(knn.features, Tile::depth) * Tile::depth; }
  template <class Data, class Order>
  [[nodiscard]] auto rows_of(const Data& data, Order order, std::int64_t n, const Array<Key>& norms_of,
                             const Lengths& lengths_of_rows) const {
    const int features = static_cast<int>(knn.features);
    if constexpr (exact)
      return PixelRows<Unit, T, Order>{data.data(), order, n, features, norms_of.data()};
    else
      return RealRows<Unit, Order>{data.data(),     order,          n, features, centre.data(), widest(),
                                   norms_of.data(), lengths_of_rows};
  }
  [[nodiscard]] Lengths lengths_of(std::int64_t before, std::int64_t rows, int largest) const {
    float* first = lengths.data() + lengths_before + 2 * before;
    return {first, first + rows, lengths.data() + largest};
  }
};

/// Calls `make.operator()<Unit, T>()` with the unit for the data: pixels of any type as bytes; other numbers rounded to
/// f16, or to bf16 on hosts, which have no f16 unit.
template <template <blocks::mma::Element> class Native, class Make>
static std::unique_ptr<IndependentShard> with_unit(const Knn& problem, const Make& make) {
  using blocks::mma::Element;
  constexpr Element real = Native<Element::f16>::lanes == 1 ? Element::bf16 : Element::f16;
  if (!problem.exact) return make.template operator()<Native<real>, float>();
  return with_type<float, std::int32_t, std::uint8_t>(problem.dtype,
                                                      [&]<class T>() -> std::unique_ptr<IndependentShard> {
                                                        return make.template operator()<Native<Element::s8>, T>();
                                                      });
}
template <template <blocks::mma::Element> class Native, template <class, class> class Variant>
static std::unique_ptr<IndependentShard> by_unit(const Knn& problem, const Context& context, const Shard& shard) {
  return with_unit<Native>(problem, [&]<class Unit, class T>() -> std::unique_ptr<IndependentShard> {
    return std::make_unique<Variant<Unit, T>>(problem, context, shard);
  });
}

}  // namespace league::knn
