// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstdint>

#include "algorithms/blocks/group.hpp"
#include "algorithms/blocks/k_best.hpp"
#include "algorithms/blocks/unrolled.hpp"
#include "algorithms/knn/common/vote.hpp"

/// Selection and votes of one query by all threads of a team, through its scratch.
namespace league::knn {

using SelectionKey = unsigned long long;  ///< see `selection_key`
inline constexpr SelectionKey no_key = ~SelectionKey{0};
inline constexpr int max_k = 64, max_select_threads = 256, max_candidates = 512;

/// The index of a row, the lower half of a key.
LEAGUE_FUNCTION std::int64_t index_of(SelectionKey key) { return static_cast<std::int64_t>(key & 0xffffffffULL); }

/// Scratch of a team.
struct SelectScratch {
  SelectionKey candidates[max_candidates], best[max_k];  ///< best: sorted
  double squared[max_k], distances[max_k], weights[max_k];
  std::uint32_t minima[max_select_threads], limit;
  std::int32_t labels[max_k];
  int count;
};

/// Finds the `k` smallest of `count` keys, `key(i)`, all different: `scratch.best`, ascending, then `no_key`. The k-th
/// smallest of the threads' minima is an upper bound of the k-th smallest key; what is not above it, about k keys, is
/// gathered and sorted by counting ranks. Too many of these, for instance equal distances: k passes over all keys.
/// `Atomics::add` and `Atomics::max`: on an integer in scratch; `add` returns the old value.
/// @pre all threads call; at most `max_select_threads`
template <class Atomics, class Group, class KeyAt>
LEAGUE_FUNCTION void select_best(const Group& group, std::int64_t count, int k, const KeyAt& key,
                                 SelectScratch& scratch) {
  constexpr std::uint32_t highest = 0xffffffffU;
  const auto upper = [](SelectionKey of) { return static_cast<std::uint32_t>(of >> 32); };
  std::uint32_t mine = highest;
  for (std::int64_t i = group.rank; i < count; i += group.size) {
    const std::uint32_t other = upper(key(i));
    mine = other < mine ? other : mine;
  }
  group.barrier();  // earlier contents have been read
  scratch.minima[group.rank] = mine;
  if (group.rank == 0) scratch.count = 0, scratch.limit = group.size < k ? highest : 0;
  group.barrier();
  int below = 0;
  for (int thread = 0; thread < group.size; ++thread) below += scratch.minima[thread] < mine ? 1 : 0;
  if (below < k) Atomics::max(&scratch.limit, mine);
  group.barrier();
  for (std::int64_t i = group.rank; i < count; i += group.size) {
    const SelectionKey candidate = key(i);
    if (candidate == no_key || upper(candidate) > scratch.limit) continue;
    const int place = Atomics::add(&scratch.count, 1);
    if (place < max_candidates) scratch.candidates[place] = candidate;
  }
  for (int i = group.rank; i < k; i += group.size) scratch.best[i] = no_key;
  group.barrier();
  const int found = scratch.count;
  if (found <= max_candidates) {
    for (int i = group.rank; i < found; i += group.size) {
      const SelectionKey candidate = scratch.candidates[i];
      int rank = 0;
      for (int other = 0; other < found; ++other) rank += scratch.candidates[other] < candidate ? 1 : 0;
      if (rank < k) scratch.best[rank] = candidate;
    }
  } else {
    SelectionKey from = 0;
    for (int pass = 0; pass < k; ++pass) {
      SelectionKey smallest = no_key;
      for (std::int64_t i = group.rank; i < count; i += group.size) {
        const SelectionKey candidate = key(i);
        if (candidate >= from && candidate < smallest) smallest = candidate;
      }
      group.barrier();
      scratch.candidates[group.rank] = smallest;
      blocks::combine_in_scratch(group, scratch.candidates,
                                 [](SelectionKey a, SelectionKey b) { return a < b ? a : b; });
      group.barrier();
      if (group.rank == 0) scratch.best[pass] = scratch.candidates[0];
      from = scratch.candidates[0] + 1;
    }
  }
  group.barrier();
}

/// Squared distances, in D, of row `x` to rows `row(0)` to `row(count - 1)`: neighbouring `lanes` threads share a row,
/// of which there are several at a time. `lanes_sum` adds over them; `put(i, squared)` is called by one thread per row.
/// @pre all threads call
template <class D, class T, class Group, class Row, class LanesSum, class Put>
LEAGUE_FUNCTION void squares_of_rows(const Group& group, int lanes, int features, const T* x, int count, const Row& row,
                                     const LanesSum& lanes_sum, const Put& put) {
  constexpr int together = 4;
  const int subgroup = group.rank / lanes, subgroups = group.size / lanes, lane = group.rank % lanes;
  for (int first = 0; first < count; first += subgroups * together) {  // the same number of iterations for all
    const T* y[together];
    D sum[together] = {};
    blocks::unrolled<together>([&](int n) {
      const int i = first + n * subgroups + subgroup;
      y[n] = row(i < count ? i : count - 1);
    });
    for (int f = lane; f < features; f += lanes) {
      const auto value = static_cast<D>(x[f]);
      blocks::unrolled<together>([&](int n) {
        const D difference = value - static_cast<D>(y[n][f]);
        sum[n] += difference * difference;
      });
    }
    blocks::unrolled<together>([&](int n) {
      const int i = first + n * subgroups + subgroup;
      const D all = lanes_sum(sum[n]);
      if (lane == 0 && i < count) put(i, all);
    });
  }
}

/// From the neighbours of query `x` to its results, by `lanes` threads: their distances from differences in double, the
/// neighbours sorted by these, and the label of `winner`. @pre all lanes call; `lanes_sum` adds over them
template <class T, class LanesSum>
LEAGUE_FUNCTION void measure_and_vote(int lane, int lanes, int features, const T* x, const T* train, int k, Votes votes,
                                      const std::int32_t* train_labels, std::int64_t* neighbours, double* distances,
                                      std::int32_t* label, const LanesSum& lanes_sum) {
  using std::sqrt;
  squares_of_rows<double>(
      blocks::Group<blocks::NoBarrier>{lane, lanes, {}}, lanes, features, x, k,
      [&](int i) { return train + neighbours[i] * features; }, lanes_sum,
      [&](int i, double squared) {  // rows up to i have been read
        const std::int64_t neighbour = neighbours[i];
        const blocks::KBest<double, std::int64_t> sorted{distances, neighbours, i + 1, 1};
        distances[i] = sorted.none;
        sorted.insert(squared, neighbour);
      });
  if (lane != 0) return;
  for (int i = 0; i < k; ++i) distances[i] = sqrt(distances[i]);
  *label = winner(votes, k, neighbours, distances, train_labels);
}

/// From `scratch.best` and its `scratch.squared` distances in double to the results of a query: neighbours and
/// distances, nearest first, equal ones by the lower index, and the label of `winner`. @pre all threads call, after a
/// barrier
template <class Group>
LEAGUE_FUNCTION void rank_and_vote(const Group& group, int k, Votes votes, const std::int32_t* train_labels,
                                   std::int64_t* neighbours, double* distances, std::int32_t* label,
                                   SelectScratch& scratch) {
  using std::sqrt;
  const auto index = [&scratch](int i) { return index_of(scratch.best[i]); };
  for (int i = group.rank; i < k; i += group.size) {
    int rank = 0;
    for (int other = 0; other < k; ++other)
      rank += blocks::before(scratch.squared[other], index(other), scratch.squared[i], index(i)) ? 1 : 0;
    neighbours[rank] = index(i);
    distances[rank] = scratch.distances[rank] = sqrt(scratch.squared[i]);
    scratch.labels[rank] = train_labels[index(i)];
  }
  group.barrier();
  for (int i = group.rank; i < k; i += group.size)
    scratch.weights[i] = vote_of(votes, scratch.distances[i], scratch.distances[0]);
  group.barrier();
  for (int i = group.rank; i < k; i += group.size) {
    double sum = 0;
    for (int other = 0; other < k; ++other)
      if (scratch.labels[other] == scratch.labels[i]) sum += scratch.weights[other];
    scratch.squared[i] = sum;
  }
  group.barrier();
  if (group.rank != 0) return;
  int best = 0;
  for (int i = 1; i < k; ++i)
    if (scratch.squared[i] > scratch.squared[best] ||
        (scratch.squared[i] == scratch.squared[best] && scratch.labels[i] < scratch.labels[best]))
      best = i;
  *label = scratch.labels[best];
}

}  // namespace league::knn
