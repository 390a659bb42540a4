// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/numbers_kokkos.hpp"
#include "algorithms/blocks/point_panels_kokkos.hpp"
#include "algorithms/blocks/share_kokkos.hpp"
#include "algorithms/blocks/vectorised.hpp"
#include "algorithms/knn/common/shard.hpp"

/// What the methods written once share: lists in memory, sums over features, norms and votes.
namespace league::knn::kokkos_model {

using blocks::Numbers;
using kokkos::Exec, kokkos::Member, kokkos::Team, kokkos::Vector;

/// The elements of an array from element `first` on.
template <class T>
struct From {
  const Vector<T>& array;
  std::int64_t first;
  KOKKOS_FORCEINLINE_FUNCTION T& operator[](std::int64_t i) const { return array(first + i); }
};
/// A k-best list in two arrays.
template <class Index>
using List = blocks::KBestIn<From<double>, From<Index>>;

/// A value as packed rows have it, as a float.
template <class Element>
struct Widen {
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION float operator()(T value) const {
    return Element::widen(Element::pack(value));
  }
};

/// Of what a thread adds over the features of a row: `width` sums side by side, so that a host has whole vectors.
inline constexpr Numbers of_features =
    blocks::by_kind({.width = 1, .team = 8, .vector = 32}, {.width = 8, .team = 1, .vector = 1});

/// The squared distance of x(f) and y(f) over the features, in double, by the lanes of a thread.
template <class X, class Y>
KOKKOS_FORCEINLINE_FUNCTION double squared_distance(const Member& team, int features, const X& x, const Y& y) {
  constexpr int width = of_features.width, lanes = of_features.vector;
  double all = 0;
  Kokkos::parallel_reduce(
      Kokkos::ThreadVectorRange(team, lanes),
      [&](int lane, double& sum) {
        double sums[width] = {};
        const auto mine = blocks::share(lane, lanes, features / width);
        for (int p = mine.first; p < mine.end; p += mine.stride) {
          for (int e = 0; e < width; ++e) {
            const double difference = static_cast<double>(x(p * width + e)) - static_cast<double>(y(p * width + e));
            sums[e] += difference * difference;
          }
        }
        for (int f = features / width * width + lane; f < features; f += lanes) {
          const double difference = static_cast<double>(x(f)) - static_cast<double>(y(f));
          sum += difference * difference;
        }
        for (int e = 0; e < width; ++e) sum += sums[e];
      },
      all);
  return all;
}

// A functor: nvcc 13.0 gives a lambda of a function that two files instantiate alike no copy function.
template <class Body>
struct ForRows {
  std::int64_t rows;
  Body body;
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    constexpr int threads = of_features.team;
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, threads), [&](int thread) {
      const std::int64_t row = std::int64_t{team.league_rank()} * threads + thread;
      if (row < rows) body(team, row);
    });
  }
};
/// Calls `body(team, row)` for each of `rows` rows, by the lanes of a thread.
template <class Body>
void for_rows(const Exec& exec, const char* label, std::int64_t rows, const Body& body) {
  const int league = league_of(ceil_div<std::int64_t>(rows, of_features.team));
  Kokkos::parallel_for(label, Team(exec, league, of_features.team, of_features.vector), ForRows<Body>{rows, body});
}

/// Lanes that share the features of a pack of rows.
inline constexpr Numbers of_norms = blocks::by_kind({.depth = 8, .team = 256}, {.depth = 1, .team = 1});

// A team takes a panel, a lane every slices-th feature of a pack of rows; then the slices of a row are added.
/// The squared norms of the `n` rows of some panels; NaN for those of the padding.
template <class Panels>
struct SquareNorms {
  using Scratch = Kokkos::View<double*, Exec::scratch_memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  static constexpr int slices = of_norms.depth, packs = Panels::packs, width = Panels::width;
  std::int64_t n;
  Panels panels;
  blocks::Packs<const float, width> rows;
  Vector<float> norms;

  static std::size_t scratch_bytes() { return Scratch::shmem_size(slices * Panels::points); }
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const Scratch partial(team.team_scratch(0), slices * Panels::points);
    const int panel = static_cast<int>(team.league_rank());
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, slices * packs), [&](int item) {
      const int pack = item % packs, slice = item / packs;
      double sums[width] = {};
      for (int f = slice; f < panels.depth; f += slices) {
        const blocks::LoadedPack<const float, width> values = rows(panels.first(panel) + f * packs + pack);
        LEAGUE_VECTORISED
        for (int e = 0; e < width; ++e)
          sums[e] += static_cast<double>(values.values[e]) * static_cast<double>(values.values[e]);
      }
      for (int e = 0; e < width; ++e) partial(slice * Panels::points + pack * width + e) = sums[e];
    });
    team.team_barrier();
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, Panels::points), [&](int i) {
      const std::int64_t row = std::int64_t{panel} * Panels::points + i;
      double norm = 0;
      for (int slice = 0; slice < slices; ++slice) norm += partial(slice * Panels::points + i);
      norms(row) = row < n ? static_cast<float>(norm) : KeyLimits<float>::no_row();
    });
  }
};
template <class Panels>
void square_norms(const Exec& exec, std::int64_t n, const Panels& panels,
                  const blocks::Packs<const float, Panels::width>& rows, const Vector<float>& norms) {
  using Kernel = SquareNorms<Panels>;
  Kokkos::parallel_for("knn/norms",
                       Team(exec, panels.panels, std::min(of_norms.team, Kernel::slices * Kernel::packs), 1)
                           .set_scratch_size(0, Kokkos::PerTeam(Kernel::scratch_bytes())),
                       Kernel{n, panels, rows, norms});
}

/// Inputs and results of one shard.
template <class T>
struct Rows {
  explicit Rows(const Memory<T, kokkos::Array>& knn)
      : features(static_cast<int>(knn.features)),
        k(knn.k),
        votes(knn.votes),
        test(knn.test.view()),
        train(knn.train.view()),
        train_labels(knn.train_labels.view()),
        labels(knn.labels.view()),
        neighbours(knn.neighbours.view()),
        distances(knn.distances.view()) {}
  int features, k;
  Votes votes;
  Vector<const T> test, train;
  Vector<const std::int32_t> train_labels;
  Vector<std::int32_t> labels;
  Vector<std::int64_t> neighbours;
  Vector<double> distances;

  /// The neighbours of a query, the first `size`.
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION List<std::int64_t> list(std::int64_t query, int size) const {
    return {{distances, query * k}, {neighbours, query * k}, size, 1};
  }
  /// Inserts neighbour `i` of a query, at `squared`, into the list of those before it.
  KOKKOS_FORCEINLINE_FUNCTION void sort_in(std::int64_t query, int i, std::int64_t neighbour, double squared) const {
    const auto sorted = list(query, i + 1);
    sorted.keys[i] = sorted.none;
    sorted.insert(squared, neighbour);
  }
  /// From the sorted neighbours of a query to its distances and label.
  KOKKOS_FORCEINLINE_FUNCTION void label(std::int64_t query) const {
    const auto sorted = list(query, k);
    for (int i = 0; i < k; ++i) sorted.keys[i] = Kokkos::sqrt(sorted.keys[i]);
    labels(query) = winner(votes, k, sorted.indices, sorted.keys, train_labels);
  }
};

// A thread takes a query, its lanes the features of one neighbour after another.
/// From the neighbours of all queries to their results: distances from differences in double, the neighbours sorted by
/// these, and the labels.
template <class T>
struct Vote : Rows<T> {
  using Rows<T>::Rows;
  KOKKOS_FUNCTION void operator()(const Member& team, std::int64_t query) const {
    for (int i = 0; i < Rows<T>::k; ++i) {
      const std::int64_t neighbour = Rows<T>::neighbours(query * Rows<T>::k + i);  // the list has those before it
      const double squared = squared_distance(
          team, Rows<T>::features, [&](int f) { return Rows<T>::test(query * Rows<T>::features + f); },
          [&](int f) { return Rows<T>::train(neighbour * Rows<T>::features + f); });
      Kokkos::single(Kokkos::PerThread(team), [&] { Rows<T>::sort_in(query, i, neighbour, squared); });
    }
    Kokkos::single(Kokkos::PerThread(team), [&] { Rows<T>::label(query); });
  }
};

template <class T>
void vote_all(const Exec& exec, const Memory<T, kokkos::Array>& knn) {
  for_rows(exec, "knn/vote", knn.m, Vote<T>(knn));
}

}  // namespace league::knn::kokkos_model
