// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/knn/common/select.hpp"
#include "algorithms/knn/common/shard.hpp"
#include "algorithms/knn/per_query/launch.hpp"

/// The method `per_query`, the same in CUDA and Kokkos: one kernel, a team takes a query and a chunk of the training
/// rows. For few queries, or few rows.
namespace league::knn {

/// Scratch of a team.
struct QueryScratch {
  SelectScratch select;
  std::int32_t squared[max_chunk];  ///< distances to the rows of the chunk, `ordered`
};

/// Arguments of the kernel.
template <class T, class Element>
struct QueryWork {
  using D = Distance<Element>;
  std::int64_t n, queries;
  int features, k, chunk, chunks;  ///< chunk: training rows per item
  Votes votes;
  const T *test, *train;
  const std::int32_t* train_labels;
  std::int64_t* neighbours;
  double* distances;
  std::int32_t* labels;
  SelectionKey* lists;  ///< [queries x chunks x k], where there are several chunks
  unsigned* tickets;    ///< [queries]

  [[nodiscard]] LEAGUE_FUNCTION std::int64_t items() const { return queries * chunks; }
  [[nodiscard]] LEAGUE_FUNCTION const T* test_row(std::int64_t query) const { return test + query * features; }
  [[nodiscard]] LEAGUE_FUNCTION const T* train_row(std::int64_t row) const { return train + row * features; }
};

/// Item `item`: the distances of a chunk, its k best; with the last chunk of a query, their merge and the votes.
/// `comes_last(ticket, count)`: blocks::comes_last. @pre all threads call
template <class Atomics, class T, class Element, class Group, class LanesSum, class ComesLast>
LEAGUE_FUNCTION void take_item(const QueryWork<T, Element>& work, std::int64_t item, const Group& group, int lanes,
                               const LanesSum& lanes_sum, const ComesLast& comes_last, QueryScratch& scratch) {
  using D = Distance<Element>;
  const std::int64_t query = item / work.chunks, begin = item % work.chunks * work.chunk;
  const auto count = static_cast<int>(begin + work.chunk < work.n ? work.chunk : work.n - begin);
  const T* x = work.test_row(query);
  SelectScratch& select = scratch.select;
  group.barrier();  // the votes of the item before
  squares_of_rows<D>(
      group, lanes, work.features, x, count, [&](int i) { return work.train_row(begin + i); }, lanes_sum,
      [&](int i, D sum) { scratch.squared[i] = KeyLimits<D>::to_ordered(sum); });
  group.barrier();
  select_best<Atomics>(
      group, count, work.k, [&](std::int64_t i) { return selection_key(scratch.squared[i], begin + i); }, select);
  if (work.chunks > 1) {
    SelectionKey* lists = work.lists + query * work.chunks * work.k;
    SelectionKey* list = lists + item % work.chunks * work.k;
    for (int i = group.rank; i < work.k; i += group.size) list[i] = select.best[i];
    if (!comes_last(work.tickets + query, static_cast<unsigned>(work.chunks))) return;
    select_best<Atomics>(
        group, std::int64_t{work.chunks} * work.k, work.k, [lists](std::int64_t i) { return lists[i]; }, select);
  }
  squares_of_rows<double>(
      group, lanes, work.features, x, work.k, [&](int i) { return work.train_row(index_of(select.best[i])); },
      lanes_sum, [&](int i, double sum) { select.squared[i] = sum; });
  group.barrier();
  rank_and_vote(group, work.k, work.votes, work.train_labels, work.neighbours + query * work.k,
                work.distances + query * work.k, work.labels + query, select);
}

/// Memory of `per_query`.
template <class T, class Element, template <class> class Array>
struct QueryMemory {
  QueryMemory(IndependentShard& shard_, const Knn& problem) : shard(shard_), knn(shard_, problem) {}

  /// `most`: threads of a team.
  Launch configure(Launch launch, const LaunchLimits& limits, int most, std::int64_t teams, bool shuffles) {
    const QueryShape shape{knn.n, knn.m, knn.features, static_cast<std::int64_t>(sizeof(T)), knn.k};
    launch = query_launch(shape, launch, limits, most, teams, shuffles);
    shard.declare(lists, "knn/lists", shape.list_entries(launch));
    shard.declare_zeroed(tickets, "knn/tickets", knn.m);
    return launch;
  }
  [[nodiscard]] QueryWork<T, Element> work(Launch launch) const {
    return {knn.n,
            knn.m,
            static_cast<int>(knn.features),
            knn.k,
            launch.tile,
            static_cast<int>(ceil_div<std::int64_t>(knn.n, launch.tile)),
            knn.votes,
            knn.test.data(),
            knn.train.data(),
            knn.train_labels.data(),
            knn.neighbours.data(),
            knn.distances.data(),
            knn.labels.data(),
            lists.data(),
            tickets.data()};
  }

  IndependentShard& shard;
  Memory<T, Array> knn;
  Array<SelectionKey> lists;
  Array<unsigned> tickets;
};

}  // namespace league::knn
