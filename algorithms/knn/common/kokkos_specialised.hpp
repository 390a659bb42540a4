// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/group_kokkos.hpp"
#include "algorithms/knn/common/select.hpp"
#include "algorithms/knn/common/shard.hpp"
#include "backends/kokkos/kokkos.hpp"

namespace league::knn::kokkos_specialised_model {

using kokkos::Exec, kokkos::Member, kokkos::Team;

/// For select.hpp and the kernel of `fused`.
struct ScratchAtomics {
  KOKKOS_FUNCTION static int add(int* to, int value) { return Kokkos::atomic_fetch_add(to, value); }
  KOKKOS_FUNCTION static void min(int* to, int value) { Kokkos::atomic_min(to, value); }
  KOKKOS_FUNCTION static void max(unsigned* to, unsigned value) { Kokkos::atomic_max(to, value); }
};
/// Adds over the `lanes` vector lanes of a thread; all get the sum.
struct LanesSum {
  const Member& team;
  int lanes;
  template <class T>
  KOKKOS_FUNCTION T operator()(T mine) const {
    T all{};
    Kokkos::parallel_reduce(Kokkos::ThreadVectorRange(team, lanes), [&](int, T& sum) { sum += mine; }, all);
    return all;
  }
};

// A team takes a query, its lanes the distances with stride `lanes`. k passes, each finds the smallest key after the
// last one.
/// `squared(query, j)`: squared distance to training row j, for `selection_key`.
template <class Squared>
struct Select {
  std::int64_t queries;
  int k;
  std::int64_t n;
  Squared squared;
  std::int64_t* neighbours;

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    using Key = unsigned long long;
    for (std::int64_t query = team.league_rank(); query < queries; query += team.league_size()) {
      Key from = 0;
      for (int i = 0; i < k; ++i) {
        Key smallest = ~Key{0};
        Kokkos::parallel_reduce(
            Kokkos::TeamVectorRange(team, n),
            [&](std::int64_t j, Key& mine) {
              const Key key = selection_key(squared(query, j), j);
              if (key >= from && key < mine) mine = key;
            },
            Kokkos::Min<Key>(smallest));
        from = smallest + 1;
        blocks::once_per_team(team,
                              [&] { neighbours[query * k + i] = static_cast<std::int64_t>(smallest & 0xffffffffULL); });
      }
    }
  }
};

// A thread takes a query, its lanes the features.
template <class T>
struct Vote {
  std::int64_t queries;
  int features, k;
  Votes votes;
  const T *test, *train;
  const std::int32_t* train_labels;
  std::int64_t* neighbours;
  double* distances;
  std::int32_t* labels;
  int threads, lanes;

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const int lane = blocks::team_group(team, threads * lanes).rank % lanes;
    for (std::int64_t query = std::int64_t{team.league_rank()} * threads + team.team_rank(); query < queries;
         query += std::int64_t{team.league_size()} * threads)
      measure_and_vote(lane, lanes, features, test + query * features, train, k, votes, train_labels,
                       neighbours + query * k, distances + query * k, labels + query, LanesSum{team, lanes});
  }
};

/// For `queries` queries from `first` on.
template <class T, class Squared>
void select_rows(const Exec& exec, const Memory<T, kokkos::Array>& knn, Launch launch, std::int64_t first,
                 std::int64_t queries, const Squared& squared) {
  Kokkos::parallel_for("knn/select",
                       Team(exec, std::min(launch.league, league_of(queries)), launch.team, launch.vector),
                       Select<Squared>{queries, knn.k, knn.n, squared, knn.neighbours.data() + first * knn.k});
}

template <class T>
void vote_all(const Exec& exec, const Memory<T, kokkos::Array>& knn) {
  const int threads = kokkos::on_gpu ? 8 : 1, lanes = kokkos::on_gpu ? 32 : 1;
  Kokkos::parallel_for(
      "knn/vote", Team(exec, league_of(ceil_div<std::int64_t>(knn.m, threads)), threads, lanes),
      Vote<T>{knn.m, static_cast<int>(knn.features), knn.k, knn.votes, knn.test.data(), knn.train.data(),
              knn.train_labels.data(), knn.neighbours.data(), knn.distances.data(), knn.labels.data(), threads, lanes});
}

}  // namespace league::knn::kokkos_specialised_model
