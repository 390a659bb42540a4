// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "algorithms/knn/mma_work.hpp"
#include "algorithms/knn/part.hpp"
#include "backends/launch.hpp"

/// Memory and launches of the method `mma`, in CUDA and Kokkos alike: `fused`, with products by matrix units.
namespace league::knn {

/// Packed rows with their norms, samples and lists.
template <class Tile_, class T_, template <class> class Array>
struct MmaMemory {
  using Tile = Tile_;
  using Unit = typename Tile::Unit;
  using T = T_;
  using Key = typename Unit::Sum;
  static constexpr bool exact = MmaWork<Tile>::exact;
  static constexpr int sampled_chunk = Unit::lanes == 1 ? 32 : 2;  ///< tiles of a work item of the first pass

  MmaMemory(Part& part, const Knn& problem)
      : knn(part, problem), train_pieces(knn.n, padded(), Tile::columns), test_pieces(knn.m, padded(), Tile::rows) {
    part.declare(train, "knn/packed_train", train_pieces.size());
    part.declare(test, "knn/packed_test", test_pieces.size());
    part.declare(norms, "knn/train_norms", train_pieces.rows);
    part.declare(test_norms, "knn/test_norms", test_pieces.rows);
    part.declare(least, "knn/least", test_pieces.rows * groups());
    part.declare(reach, "knn/reach", test_pieces.rows);
    part.declare(lists, "knn/lists", knn.m * room());
    part.declare(counts, "knn/counts", knn.m);
    if (exact) return;
    part.declare(centre, "knn/centre", knn.features);
    part.declare(lengths, "knn/lengths", 2 * (train_pieces.rows + test_pieces.rows) + lengths_before);
    part.declare(slack, "knn/slack", knn.m);
  }
  /// The launch of the pass over all rows, its chunk in whole tiles.
  /// @throws Unsupported for another team than the tile's, and for more rows than a candidate has digits for
  [[nodiscard]] Launch configure(Launch launch, const LaunchLimits& limits) const {
    const std::int64_t tiles = (train_pieces.rows / Tile::columns) * (test_pieces.rows / Tile::rows);
    const auto chunk = Unit::lanes == 1 ? 32 : std::clamp<std::int64_t>(tiles / 1024, 1, 16);  // some work for all
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
    return {test.data(),  train.data(), test_pieces, train_pieces, norms.data(), test_norms.data(),
            knn.m,        knn.k,        chunk,       samples(),    groups(),     slack.data(),
            least.data(), reach.data(), room(),      lists.data(), counts.data()};
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
  /// Tiles that are sampled: of the time for the sample and that for the candidates, which are inversely proportional
  /// to it, the sum is least where it grows with the root of k; at k = 3 with one tile in twelve (measured). At least
  /// twice as many groups of rows as neighbours.
  [[nodiscard]] int samples() const {
    const auto tiles = static_cast<int>(train_pieces.rows / Tile::columns);
    const double share = std::min(0.5, std::sqrt(knn.k / 3.0) / 12);
    return std::min(tiles,
                    std::max(static_cast<int>(std::ceil(tiles * share)), ceil_div(2 * knn.k, Tile::row_threads)));
  }
  [[nodiscard]] int groups() const { return samples() * Tile::row_threads; }
  /// Of a list: of rows in random order, k / sampled share of them are within reach, with a deviation of a root of k
  /// for k; six of these and the tail of small k leave less than one list in a million too short.
  [[nodiscard]] int room() const {
    const double k = knn.k, tiles = static_cast<double>(train_pieces.rows / Tile::columns);
    const double reached = tiles / samples() * (k + 6 * std::sqrt(k) + 12) * (1 + k / groups());
    return static_cast<int>(std::min(std::ceil(reached / 32) * 32, static_cast<double>(knn.n)));
  }
  /// Of the last compute: the candidates that the lists hold, and the queries whose lists were not enough. Waits for
  /// `queue`, on which the memory is.
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
  /// Rows as the unit takes them.
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
  Array<Candidate> least, reach, lists;
  Array<std::int32_t> counts;
  Array<float> centre, slack;
  static constexpr int lengths_before = 5;
  Array<float> lengths;  ///< the most of both operands, how wide some rows are; then sizes and errors of all rows

 private:
  /// Features in whole steps of the tile.
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
  [[nodiscard]] Lengths lengths_of(std::int64_t before, std::int64_t rows, int most) const {
    float* first = lengths.data() + lengths_before + 2 * before;
    return {first, first + rows, lengths.data() + most};
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
