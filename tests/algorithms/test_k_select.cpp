// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "algorithms/knn/common/element.hpp"
#include "algorithms/knn/common/select.hpp"

// Selection by teams of threads of the host, against a sort.
namespace league::knn {
namespace {

struct HostAtomics {
  static int add(int* to, int value) { return std::atomic_ref(*to).fetch_add(value); }
  static void max(unsigned* to, unsigned value) {
    std::atomic_ref all(*to);
    for (unsigned seen = all.load(); seen < value && !all.compare_exchange_weak(seen, value);) continue;
  }
};

/// Calls `body(group)` on `size` threads.
template <class Body>
void run_team(int size, const Body& body) {
  std::barrier<> barrier(size);
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] { body(blocks::group_of(rank, size, [&] { barrier.arrive_and_wait(); })); });
}

std::vector<SelectionKey> selected(const std::vector<SelectionKey>& keys, int k, int size) {
  const auto scratch = std::make_unique<SelectScratch>();
  for (int again = 0; again < 2; ++again)  // with what the first has left in scratch
    run_team(size, [&](const auto& group) {
      select_best<HostAtomics>(
          group, std::ssize(keys), k, [&](std::int64_t i) { return keys[static_cast<std::size_t>(i)]; }, *scratch);
    });
  return {scratch->best, scratch->best + k};
}

/// The first k, then no_key.
std::vector<SelectionKey> sorted(std::vector<SelectionKey> keys, int k) {
  std::ranges::sort(keys);
  keys.resize(static_cast<std::size_t>(k), no_key);
  return keys;
}

/// `count` keys with distances below `distances`.
std::vector<SelectionKey> keys_of(int count, std::int32_t distances, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<SelectionKey> keys;
  for (int i = 0; i < count; ++i)
    keys.push_back(selection_key(static_cast<std::int32_t>(random() % static_cast<unsigned>(distances)), i));
  return keys;
}

TEST(KSelect, FindsTheSmallestInOrder) {
  for (const int size : {1, 3, 16})
    for (const int count : {0, 1, 7, 63, 64, 511, 513, 2000})
      for (const int k : {1, 2, 17, 64})
        for (const std::int32_t distances : {1, 5, 1 << 30}) {  // all equal, many equal, few equal
          const auto keys = keys_of(count, distances, 7);
          EXPECT_EQ(selected(keys, k, size), sorted(keys, k))
              << size << " threads, " << count << " keys, k " << k << ", distances below " << distances;
        }
}

TEST(KSelect, MissingKeysAreLast) {
  auto keys = keys_of(300, 1000, 3);
  for (std::size_t i = 0; i < keys.size(); i += 3) keys[i] = no_key;
  for (const int k : {1, 64}) EXPECT_EQ(selected(keys, k, 16), sorted(keys, k));
}

TEST(KSelect, VotesAsTheSerialRuleDoes) {
  std::mt19937 random(5);
  for (const Votes votes : {Votes::eps, Votes::inverse, Votes::uniform})
    for (const int k : {1, 2, 9, 64})
      for (int trial = 0; trial < 5; ++trial) {
        std::vector<std::int32_t> train_labels(200);
        for (auto& label : train_labels) label = static_cast<std::int32_t>(random() % 4) - 2;
        const auto scratch = std::make_unique<SelectScratch>();
        std::vector<std::pair<double, std::int64_t>> nearest;
        for (int i = 0; i < k; ++i) {
          const double squared = static_cast<double>(random() % 3);  // equal distances, and some at 0
          const std::int64_t index = (i * 37 + trial) % 200;
          scratch->best[i] = selection_key(std::int32_t{0}, index);
          scratch->squared[i] = squared;
          nearest.emplace_back(squared, index);
        }
        std::vector<std::int64_t> neighbours(static_cast<std::size_t>(k));
        std::vector<double> distances(neighbours.size());
        std::int32_t label = 99;
        run_team(7, [&](const auto& group) {
          rank_and_vote(group, k, votes, train_labels.data(), neighbours.data(), distances.data(), &label, *scratch);
        });
        std::ranges::sort(nearest);
        for (std::size_t i = 0; i < nearest.size(); ++i) {
          EXPECT_EQ(neighbours[i], nearest[i].second);
          EXPECT_EQ(distances[i], std::sqrt(nearest[i].first));
        }
        EXPECT_EQ(label, winner(votes, k, neighbours.data(), distances.data(), train_labels.data()));
      }
}

}  // namespace
}  // namespace league::knn
