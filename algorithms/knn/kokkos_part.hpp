// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>

#include "algorithms/blocks/k_best.hpp"
#include "algorithms/knn/part.hpp"
#include "backends/kokkos/kokkos.hpp"

namespace league::knn::kokkos_model {

using kokkos::Exec, kokkos::Member, kokkos::Team;

// A team takes a query, its lanes every lanes-th of its distances: the least one beyond the last found, k times.
/// `squared(query, j)` is the squared distance to training row j, in what `selection_key` takes.
template <class Squared>
void select(const Exec& exec, Launch launch, std::int64_t queries, std::int64_t n, int k, const Squared& squared,
            std::int64_t* neighbours) {
  using Key = unsigned long long;
  Kokkos::parallel_for(
      "knn/select", Team(exec, std::min(launch.league, league_of(queries)), launch.team, launch.vector),
      KOKKOS_LAMBDA(const Member& team) {
        for (std::int64_t query = team.league_rank(); query < queries; query += team.league_size()) {
          Key from = 0;
          for (int i = 0; i < k; ++i) {
            Key least = ~Key{0};
            Kokkos::parallel_reduce(
                Kokkos::TeamVectorRange(team, n),
                [&](std::int64_t j, Key& mine) {
                  const Key key = selection_key(squared(query, j), j);
                  if (key >= from && key < mine) mine = key;
                },
                Kokkos::Min<Key>(least));
            from = least + 1;
            Kokkos::single(Kokkos::PerTeam(team),
                           [&] { neighbours[query * k + i] = static_cast<std::int64_t>(least & 0xffffffffULL); });
          }
        }
      });
}

// A thread takes a query, its lanes the features.
/// Distances of the neighbours found, as differences in double; then their order by them, and their vote.
template <class T>
void vote(const Exec& exec, std::int64_t queries, int features, int k, Votes votes, const T* test, const T* train,
          const std::int32_t* train_labels, std::int64_t* neighbours, double* distances, std::int32_t* labels) {
  const int threads = kokkos::on_gpu ? 8 : 1, lanes = kokkos::on_gpu ? 32 : 1;
  const auto teams = league_of(ceil_div<std::int64_t>(queries, threads));
  Kokkos::parallel_for(
      "knn/vote", Team(exec, teams, threads, lanes), KOKKOS_LAMBDA(const Member& team) {
        for (std::int64_t query = std::int64_t{team.league_rank()} * team.team_size() + team.team_rank();
             query < queries; query += std::int64_t{team.league_size()} * team.team_size()) {
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
      });
}

template <class T>
class KokkosPart : public KnnPart<T, kokkos::Array> {
 protected:
  KokkosPart(const Knn& knn, const Context& context, const Shard& shard, std::int64_t more_bytes)
      : KnnPart<T, kokkos::Array>(knn, context, shard, more_bytes,
                                  [&](const char* label, auto& array, std::int64_t size) {
                                    array = std::remove_reference_t<decltype(array)>(
                                        kokkos::instance(context.runtime, context.runtime.queue(shard.device)), label,
                                        size);
                                  }),
        exec_(kokkos::instance(context.runtime, this->queue())) {}

  template <class Squared>
  void select_rows(Launch launch, std::int64_t first, std::int64_t queries, const Squared& squared) {
    select(exec_, launch, queries, this->n_, this->k_, squared, this->neighbours_.data() + first * this->k_);
  }
  void vote_all() {
    vote(exec_, this->m_, static_cast<int>(this->features_), this->k_, this->votes_, this->test_.data(),
         this->train_.data(), this->train_labels_.data(), this->neighbours_.data(), this->distances_.data(),
         this->labels_.data());
  }

  Exec exec_;
};

}  // namespace league::knn::kokkos_model
