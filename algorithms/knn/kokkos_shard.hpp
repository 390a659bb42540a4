// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/group_kokkos.hpp"
#include "algorithms/knn/shard.hpp"
#include "backends/kokkos/kokkos.hpp"

namespace league::knn::kokkos_model {

using kokkos::Exec, kokkos::Member, kokkos::Team;

/// For k_select.hpp and fused.hpp.
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
/// Distances of the neighbours found, from differences in double; then sorts by them, and votes.
template <class T>
struct Vote {
  std::int64_t queries;
  int k;
  std::int64_t* neighbours;
  int features;
  const T *test, *train;
  double* distances;
  std::int32_t* labels;
  Votes votes;
  const std::int32_t* train_labels;

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    for (std::int64_t query = std::int64_t{team.league_rank()} * team.team_size() + team.team_rank(); query < queries;
         query += std::int64_t{team.league_size()} * team.team_size()) {
      for (int i = 0; i < k; ++i) {
        const std::int64_t neighbour = neighbours[query * k + i];
        double squared = 0;
        Kokkos::parallel_reduce(
            Kokkos::ThreadVectorRange(team, features),
            [&](int f, double& sum) {
              const double difference = static_cast<double>(test[query * features + f]) -
                                        static_cast<double>(train[neighbour * features + f]);
              sum += difference * difference;
            },
            squared);
        const blocks::KBest<double, std::int64_t> sorted{distances + query * k, neighbours + query * k, i + 1, 1};
        Kokkos::single(Kokkos::PerThread(team), [&] {
          distances[query * k + i] = sorted.none;
          sorted.insert(squared, neighbour);
        });
      }
      Kokkos::single(Kokkos::PerThread(team), [&] {
        for (int i = 0; i < k; ++i) distances[query * k + i] = Kokkos::sqrt(distances[query * k + i]);
        labels[query] = winner(votes, k, neighbours + query * k, distances + query * k, train_labels);
      });
    }
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
      Vote<T>{knn.m, knn.k, knn.neighbours.data(), static_cast<int>(knn.features), knn.test.data(), knn.train.data(),
              knn.distances.data(), knn.labels.data(), knn.votes, knn.train_labels.data()});
}

}  // namespace league::knn::kokkos_model
