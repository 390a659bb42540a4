// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "algorithms/knn/fused/kernel.hpp"
#include "tests/algorithms/fiber_team.hpp"

// What `fused` does around its products: work items, packing, and the merge of their lists.
namespace league::knn {
namespace {

TEST(KnnFused, ChunksGiveTheMultiprocessorsWork) {
  constexpr std::int64_t train = 52'500, many = 1 << 20, multiprocessors = 132;
  EXPECT_EQ(default_chunk(3, train, many, 784, multiprocessors), 512);
  EXPECT_EQ(default_chunk(20, train, many, 784, multiprocessors), 64 * 20);
  EXPECT_EQ(default_chunk(3, train, 4'375, 784, multiprocessors), 256);  // 13 rounds: a long tail
  EXPECT_EQ(default_chunk(3, train, 4'375, 100, multiprocessors), 512);
  EXPECT_EQ(default_chunk(3, 1'000, 1, 784, multiprocessors), 128);
  EXPECT_EQ(default_chunk(64, 1'000, 1, 784, multiprocessors), 1'024);
}

/// The lists of some chunks of rows, [chunks][k][queries], as the work items leave them.
struct Lists {
  Lists(int chunks, int chunk_rows, int rows, int k, std::int64_t queries, unsigned seed)
      : keys(static_cast<std::size_t>(chunks * k * queries)),
        indices(keys.size()),
        thresholds(static_cast<std::size_t>(queries), ordered(blocks::KBest<float, int>::none)),
        all(static_cast<std::size_t>(queries)) {
    std::mt19937 random(seed);
    for (int chunk = 0; chunk < chunks; ++chunk)
      for (std::int64_t query = 0; query < queries; ++query) {
        const std::int64_t first = std::int64_t{chunk} * k * queries + query;
        const blocks::KBest<double, std::int32_t> list{keys.data() + first, indices.data() + first, k, queries};
        list.clear();
        for (int row = chunk * chunk_rows; row < std::min(rows, (chunk + 1) * chunk_rows); ++row) {
          const auto key = static_cast<double>(random() % 50);  // many equal ones
          list.insert(key, row);
          all[static_cast<std::size_t>(query)].emplace_back(key, row);
        }
        std::int32_t& threshold = thresholds[static_cast<std::size_t>(query)];
        threshold = std::min(threshold, ordered(static_cast<float>(list.threshold())));
      }
  }
  std::vector<double> keys;
  std::vector<std::int32_t> indices, thresholds;
  std::vector<std::vector<std::pair<double, std::int64_t>>> all;  ///< by query
};

TEST(KnnFused, SlicesMergeTheListsOfAllChunks) {
  constexpr std::int64_t queries = 5;
  for (const int k : {1, 3, 17})
    for (const int chunk_rows : {128, 256})
      for (const int rows : {20, 128, 300, 2'900}) {
        const blocks::Panels panels(rows, 1);
        for (const int slices : {1, 8}) {
          const auto chunks = static_cast<int>(ceil_div<std::int64_t>(panels.rows, chunk_rows));
          Lists lists(chunks, chunk_rows, rows, k, queries, static_cast<unsigned>(rows + k));
          FusedWork<float> work{};
          work.test_panels.rows = work.queries = queries;
          work.train_panels = panels;
          work.k = k;
          work.chunk = chunk_rows;
          work.threshold = lists.thresholds.data();
          work.keys = lists.keys.data();
          work.indices = lists.indices.data();
          std::vector<std::int64_t> neighbours(static_cast<std::size_t>(queries * k));
          std::vector<double> keys(neighbours.size());
          for (std::int64_t query = 0; query < queries + 1; ++query)  // one beyond the last
            tests::run_fiber_team(slices, [&](const auto& group) {
              work.merge(query, group.rank, group.size, group.barrier, neighbours.data(), keys.data());
            });
          for (std::size_t query = 0; query < queries; ++query) {
            auto& nearest = lists.all[query];
            std::ranges::sort(nearest);
            for (std::size_t i = 0; i < static_cast<std::size_t>(k); ++i) {
              EXPECT_EQ(keys[query * static_cast<std::size_t>(k) + i], nearest[i].first);
              EXPECT_EQ(neighbours[query * static_cast<std::size_t>(k) + i], nearest[i].second)
                  << "k " << k << ", " << chunks << " chunks, " << slices << " slices, query " << query << ", " << i;
            }
          }
        }
      }
}

template <class Element, class T>
void expect_panels(std::int64_t n, int features) {
  const blocks::Panels panels(n, features);
  alignas(32) static T data[300 * 65];
  std::mt19937 random(static_cast<unsigned>(features));
  for (T& value : data) value = static_cast<T>(random() % 256);
  std::vector<typename Element::Packed> packed(static_cast<std::size_t>(panels.size()), Element::pack(T{7}));
  std::vector<float> norms(static_cast<std::size_t>(panels.rows));
  double partial[blocks::PackTeam::threads];
  for (std::int64_t first = 0; first < panels.rows; first += blocks::PackTeam::rows)
    tests::run_fiber_team(blocks::PackTeam::threads, [&](const auto& team) {
      blocks::pack_panel_rows<Element>(team, data, n, features, panels, first, packed.data(), norms.data(), partial);
    });
  for (std::int64_t row = 0; row < panels.rows; ++row) {
    double norm = 0;
    for (int f = 0; f < panels.depth; ++f) {
      const bool exists = row < n && f < features;
      const auto right = exists ? Element::pack(data[row * features + f]) : Element::padding();
      const auto at = static_cast<std::size_t>(panels.first(row) + std::int64_t{f} * blocks::Panels::width);
      ASSERT_EQ(packed[at], right) << n << " x " << features << ": row " << row << ", feature " << f;
      norm += static_cast<double>(Element::widen(right)) * static_cast<double>(Element::widen(right));
    }
    const float found = norms[static_cast<std::size_t>(row)];
    if (row < n)
      ASSERT_EQ(found, static_cast<float>(norm)) << n << " x " << features << ": row " << row;
    else
      ASSERT_TRUE(found != found);  // NaN: below no threshold
  }
}

TEST(KnnFused, PanelsHaveAllRowsAndTheirNorms) {
  for (const std::int64_t n : {1, 64, 129, 300})
    for (const int features : {1, 4, 15, 16, 17, 64, 65}) {
      expect_panels<Pixel<float>, float>(n, features);
      expect_panels<Pixel<std::uint8_t>, std::uint8_t>(n, features);
      expect_panels<blocks::PlainElement<float>, float>(n, features);
    }
}

}  // namespace
}  // namespace league::knn
