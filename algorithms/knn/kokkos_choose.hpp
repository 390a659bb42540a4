// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/knn/kokkos_shard.hpp"
#include "algorithms/knn/mma_select.hpp"

/// Thresholds, selection and votes of `mma` in Kokkos: by a thread and its lanes for a few neighbours, by a team for
/// more.
namespace league::knn::kokkos_model {

// A thread takes a query, its lanes the candidates, or the features of one.
/// The smallest entry of a list that is not below `from`.
KOKKOS_INLINE_FUNCTION Candidate min_from(const Member& team, const Candidate* list, int count, Candidate from) {
  Candidate smallest = no_candidate;
  Kokkos::parallel_reduce(
      Kokkos::ThreadVectorRange(team, count),
      [&](int i, Candidate& mine) {
        if (list[i] >= from && list[i] < mine) mine = list[i];
      },
      Kokkos::Min<Candidate>(smallest));
  return smallest;
}
/// Squared distance of two rows, from differences in double.
template <class T>
KOKKOS_FUNCTION double squared_distance(const Member& team, int features, const T* x, const T* y) {
  double squared = 0;
  Kokkos::parallel_reduce(
      Kokkos::ThreadVectorRange(team, features),
      [&](int f, double& sum) {
        const double difference = static_cast<double>(x[f]) - static_cast<double>(y[f]);
        sum += difference * difference;
      },
      squared);
  return squared;
}
/// Sets the threshold from the k-th smallest sampled candidate.
template <class Tile>
struct ChooseThreshold {
  MmaWork<Tile> work;
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    for (std::int64_t query = std::int64_t{team.league_rank()} * team.team_size() + team.team_rank();
         query < work.test_pieces.rows; query += std::int64_t{team.league_size()} * team.team_size()) {
      Candidate kth = work.groups < work.k ? no_candidate : 0;
      for (int i = 0; i < work.k && work.groups >= work.k; ++i)
        kth = min_from(team, work.minima + query * work.groups, work.groups, i == 0 ? 0 : kth + 1);
      Kokkos::single(Kokkos::PerThread(team),
                     [&] { work.threshold[query] = query < work.queries ? work.threshold_of(query, kth) : 0; });
    }
  }
};
/// Selects the k nearest from each list.
template <class Tile, class T>
struct ChooseNearest {
  MmaWork<Tile> work;
  NearestRows<T> rows;
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    for (std::int64_t query = std::int64_t{team.league_rank()} * team.team_size() + team.team_rank();
         query < work.queries; query += std::int64_t{team.league_size()} * team.team_size()) {
      const auto insert = [&](std::int64_t count, std::int64_t row) {
        const double squared = squared_distance(team, rows.features, rows.test_row(query), rows.train_row(row));
        Kokkos::single(Kokkos::PerThread(team), [&] { rows.list(query, count).insert(squared, row); });
      };
      if (work.by_all_rows(query)) {
        for (std::int64_t row = 0; row < rows.n; ++row) insert(row, row);
        continue;
      }
      Candidate next = 0, last = no_candidate;
      for (int count = 0; !work.exact || count < work.k; ++count, ++next) {
        next = min_from(team, work.lists + query * work.room, work.counts[query], next);
        if (next > last || next == no_candidate) break;
        if constexpr (!MmaWork<Tile>::exact)
          insert(count, row_of(next));
        else
          Kokkos::single(Kokkos::PerThread(team),
                         [&] { rows.list(query, count).insert(work.squared(query, next), row_of(next)); });
        if (count + 1 == work.k) last = work.threshold_of(query, next);
      }
    }
  }
};
/// One query per team: `body(group, lanes_sum, scratch, query)`.
template <class Scratch, class Body>
struct ForTeams {
  std::int64_t queries;
  int threads, lanes;
  Body body;
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    auto& scratch = *static_cast<Scratch*>(team.team_scratch(0).get_shmem_aligned(sizeof(Scratch), 16));
    const auto group = blocks::team_group(team, threads * lanes);
    for (std::int64_t query = team.league_rank(); query < queries; query += team.league_size())
      body(group, LanesSum{team, lanes}, scratch, query);
  }
};
template <class Scratch, class Body>
void for_teams(const Exec& exec, const char* label, std::int64_t queries, const Body& body) {
  const int lanes = kokkos::on_gpu ? 32 : 1, threads = kokkos::on_gpu ? select_threads / lanes : 1;
  const auto policy =
      Team(exec, league_of(queries), threads, lanes).set_scratch_size(0, Kokkos::PerTeam(sizeof(Scratch) + 16));
  Kokkos::parallel_for(label, policy, ForTeams<Scratch, Body>{queries, threads, lanes, body});
}
template <class Tile>
struct ChooseThresholds {
  MmaWork<Tile> work;
  template <class Group>
  KOKKOS_FUNCTION void operator()(const Group& group, const LanesSum& /*sum*/, SelectScratch& scratch,
                                  std::int64_t query) const {
    choose_threshold<ScratchAtomics>(work, query, group, scratch);
  }
};
template <class Tile, class T>
struct ChooseAll {
  MmaWork<Tile> work;
  NearestRows<T> rows;
  template <class Group>
  KOKKOS_FUNCTION void operator()(const Group& group, const LanesSum& sum, MmaSelectScratch& scratch,
                                  std::int64_t query) const {
    choose_and_vote<ScratchAtomics>(work, rows, query, group, sum.lanes, sum, scratch);
  }
};
/// One query per thread of a team.
template <class Body>
void for_queries(const Exec& exec, const char* label, std::int64_t queries, const Body& body) {
  const int threads = kokkos::on_gpu ? 4 : 1, lanes = kokkos::on_gpu ? 32 : 1;
  Kokkos::parallel_for(label, Team(exec, league_of(ceil_div<std::int64_t>(queries, threads)), threads, lanes), body);
}

}  // namespace league::knn::kokkos_model
