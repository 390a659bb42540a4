// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/knn/common/mma_work.hpp"
#include "algorithms/knn/common/select.hpp"

/// Thresholds, selection and votes of `mma`, the same in CUDA and Kokkos: in k passes by a subgroup per query for a few
/// neighbours, by a team per query for more.
namespace league::knn {

inline constexpr int passes = 8;            ///< maximum k for which a subgroup takes k passes
inline constexpr int select_threads = 128;  ///< of a team

/// The smallest entry of a list that is not below `from`; all lanes get it. `Lanes`: the rank of a lane in its
/// subgroup, `size`, and the reductions `min` and `sum`.
template <class Lanes>
LEAGUE_FUNCTION Candidate min_from(const Lanes& lanes, const Candidate* list, int count, Candidate from) {
  Candidate smallest = no_candidate;
  for (int i = lanes.rank; i < count; i += lanes.size)
    if (list[i] >= from && list[i] < smallest) smallest = list[i];
  return lanes.min(smallest);
}
/// Squared distance of two rows, from differences in double; all lanes get it.
template <class Lanes, class T>
LEAGUE_FUNCTION double squared_distance(const Lanes& lanes, int features, const T* x, const T* y) {
  double squared = 0;
  for (int f = lanes.rank; f < features; f += lanes.size) {
    const double difference = static_cast<double>(x[f]) - static_cast<double>(y[f]);
    squared += difference * difference;
  }
  return lanes.sum(squared);
}
/// Sets the threshold of a query from the k-th smallest sampled candidate. @pre all lanes call
template <class Tile, class Lanes>
LEAGUE_FUNCTION void choose_threshold_in_passes(const MmaWork<Tile>& work, std::int64_t query, const Lanes& lanes) {
  Candidate kth = work.groups < work.k ? no_candidate : 0;
  for (int i = 0; i < work.k && work.groups >= work.k; ++i)
    kth = min_from(lanes, work.minima + query * work.groups, work.groups, i == 0 ? 0 : kth + 1);
  if (lanes.rank == 0) work.threshold[query] = query < work.queries ? work.threshold_of(query, kth) : 0;
}
/// Selects the k nearest from the list of a query. @pre all lanes call
template <class Tile, class T, class Lanes>
LEAGUE_FUNCTION void choose_nearest_in_passes(const MmaWork<Tile>& work, const NearestRows<T>& rows, std::int64_t query,
                                              const Lanes& lanes) {
  const auto insert = [&](std::int64_t count, std::int64_t row) {
    const double squared = squared_distance(lanes, rows.features, rows.test_row(query), rows.train_row(row));
    if (lanes.rank == 0) rows.list(query, count).insert(squared, row);
  };
  if (work.by_all_rows(query)) {
    for (std::int64_t row = 0; row < rows.n; ++row) insert(row, row);
    return;
  }
  Candidate next = 0, last = no_candidate;
  for (int count = 0; !work.exact || count < work.k; ++count, ++next) {
    next = min_from(lanes, work.lists + query * work.room, work.counts[query], next);
    if (next > last || next == no_candidate) break;
    if constexpr (!MmaWork<Tile>::exact)
      insert(count, row_of(next));
    else if (lanes.rank == 0)
      rows.list(query, count).insert(work.squared(query, next), row_of(next));
    if (count + 1 == work.k) last = work.threshold_of(query, next);
  }
}

/// Scratch of a team.
struct MmaSelectScratch {
  SelectScratch select;
  double squared[max_candidates];
};

/// The threshold of a query, from the k-th smallest sampled candidate. @pre all threads call
template <class Atomics, class Tile, class Group>
LEAGUE_FUNCTION void choose_threshold(const MmaWork<Tile>& work, std::int64_t query, const Group& group,
                                      SelectScratch& scratch) {
  const Candidate* minima = work.minima + query * work.groups;
  select_best<Atomics>(group, work.groups, work.k, [minima](std::int64_t i) { return minima[i]; }, scratch);
  if (group.rank == 0)
    work.threshold[query] = query < work.queries ? work.threshold_of(query, scratch.best[work.k - 1]) : 0;
  group.barrier();
}

/// From the list of a query to its results. @pre all threads call
template <class Atomics, class Tile, class T, class Group, class LanesSum>
LEAGUE_FUNCTION void choose_and_vote(const MmaWork<Tile>& work, const NearestRows<T>& rows, std::int64_t query,
                                     const Group& group, int lanes, const LanesSum& lanes_sum,
                                     MmaSelectScratch& scratch) {
  SelectScratch& select = scratch.select;
  const T* x = rows.test_row(query);
  const Candidate* list = work.lists + query * work.room;
  const auto squares = [&](int count, const auto& row) {
    squares_of_rows<double>(group, lanes, rows.features, x, count, row, lanes_sum,
                            [&](int i, double squared) { scratch.squared[i] = squared; });
    group.barrier();
  };
  // Compares `count` rows by distances in double, some at a time, with the nearest so far.
  const auto insert_all = [&](std::int64_t count, const auto& index) {
    for (std::int64_t first = 0; first < count; first += max_candidates) {
      const int some = static_cast<int>(count - first < max_candidates ? count - first : max_candidates);
      squares(some, [&](int i) { return rows.train_row(index(first + i)); });
      for (int i = 0; group.rank == 0 && i < some; ++i)
        rows.list(query, first + i).insert(scratch.squared[i], index(first + i));
      group.barrier();
    }
    for (int i = group.rank; i < work.k; i += group.size) {
      select.best[i] = static_cast<SelectionKey>(rows.neighbours[query * work.k + i]);
      select.squared[i] = rows.distances[query * work.k + i];
    }
  };
  if (work.by_all_rows(query)) {
    insert_all(rows.n, [](std::int64_t row) { return row; });
  } else {
    select_best<Atomics>(group, work.counts[query], work.k, [list](std::int64_t i) { return list[i]; }, select);
    if constexpr (MmaWork<Tile>::exact) {
      for (int i = group.rank; i < work.k; i += group.size) select.squared[i] = work.squared(query, select.best[i]);
    } else {
      const Candidate last = work.threshold_of(query, select.best[work.k - 1]);
      group.barrier();  // all have read the k-th candidate
      if (group.rank == 0) select.count = 0;
      group.barrier();
      for (int i = group.rank; i < work.counts[query]; i += group.size) {
        if (list[i] > last) continue;
        const int place = Atomics::add(&select.count, 1);
        if (place < max_candidates) select.candidates[place] = list[i];
      }
      group.barrier();
      const int found = select.count;
      if (found > max_candidates) {
        insert_all(work.counts[query], [list](std::int64_t i) { return row_of(list[i]); });
      } else {
        squares(found, [&](int i) { return rows.train_row(row_of(select.candidates[i])); });
        for (int i = group.rank; i < found; i += group.size) {
          int rank = 0;
          for (int other = 0; other < found; ++other)
            rank += blocks::before(scratch.squared[other], row_of(select.candidates[other]), scratch.squared[i],
                                   row_of(select.candidates[i]))
                        ? 1
                        : 0;
          if (rank < work.k) select.best[rank] = select.candidates[i], select.squared[rank] = scratch.squared[i];
        }
      }
    }
  }
  group.barrier();
  rank_and_vote(group, work.k, rows.votes, rows.train_labels, rows.neighbours + query * work.k,
                rows.distances + query * work.k, rows.labels + query, select);
  group.barrier();
}

}  // namespace league::knn
