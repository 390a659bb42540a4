// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/once_per_team_kokkos.hpp"
#include "algorithms/knn/common/kokkos.hpp"

namespace league::knn::kokkos_model {

/// Of what a lane reads: `width` neighbouring values, each with a minimum of its own, so that a host has whole vectors,
/// and twice as many minima as there may be neighbours.
inline constexpr Numbers of_selection = blocks::by_kind({.width = 1, .team = 256}, {.width = 128, .team = 1});

/// Selection of the k smallest of some values in D, equal ones by the lower index, by all lanes of a team. The k-th
/// smallest of the minima of many parts is an upper bound of the k-th value; what is not above it, about k values, goes
/// to a short list in scratch and is sorted by counting ranks. Too many of these, as of equal distances: k passes.
template <class D>
class Selection {
  using Key = unsigned long long;  ///< see `selection_key`
  template <class T>
  using Scratch = Kokkos::View<T*, Exec::scratch_memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  static constexpr int width = of_selection.width, max_found = 512, max_k = 64;
  static constexpr Key none = ~Key{0};

 public:
  static std::size_t scratch_bytes(int lanes) {
    return Scratch<Key>::shmem_size(max_found) + Scratch<Key>::shmem_size(max_k) +
           Scratch<D>::shmem_size(static_cast<std::size_t>(lanes * width)) + Scratch<D>::shmem_size(1) +
           Scratch<int>::shmem_size(1);
  }
  KOKKOS_FUNCTION Selection(const Member& team, int lanes)
      : team_(team),
        lanes_(lanes),
        found_(team.team_scratch(0), max_found),
        best_(team.team_scratch(0), max_k),
        minima_(team.team_scratch(0), static_cast<std::size_t>(lanes * width)),
        limit_(team.team_scratch(0), 1),
        count_(team.team_scratch(0), 1) {}

  /// Finds them among value(i), i < count, of index(i): all different. @pre a barrier before and after; all lanes call
  template <class Value, class Index>
  KOKKOS_FUNCTION void find(int count, int k, const Value& value, const Index& index) const {
    blocks::once_per_team(team_, [&] {
      limit_(0) = lanes_ * width < k ? highest() : -highest();
      count_(0) = 0;
    });
    take_minima(count, value);
    team_.team_barrier();
    bound(k);
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team_, k), [&](int i) { best_(i) = none; });
    team_.team_barrier();
    collect(count, value, index);
    team_.team_barrier();
    if (count_(0) <= max_found)
      rank(k);
    else
      pass_by_pass(count, k, value, index);
  }
  /// The i-th smallest: its key, or no key if there are fewer.
  [[nodiscard]] KOKKOS_FUNCTION Key key(int i) const { return best_(i); }
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t index(int i) const { return index_of(best_(i)); }
  [[nodiscard]] KOKKOS_FUNCTION static std::int64_t index_of(Key key) {
    return static_cast<std::int64_t>(key & 0xffffffffULL);
  }
  /// No key has the highest value.
  [[nodiscard]] KOKKOS_FUNCTION static D value_of(Key key) {
    return key == none ? highest() : KeyLimits<D>::from_ordered(static_cast<std::int32_t>(key >> 32));
  }

 private:
  /// No value is above it.
  KOKKOS_FUNCTION static D highest() {
    if constexpr (std::is_floating_point_v<D>)
      return Kokkos::Experimental::infinity_v<D>;
    else
      return Kokkos::Experimental::finite_max_v<D>;
  }

  template <class Value>
  KOKKOS_FUNCTION void take_minima(int count, const Value& value) const {
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team_, lanes_), [&](int lane) {
      D mine[width];
      for (int e = 0; e < width; ++e) mine[e] = highest();
      const auto packs = blocks::share(lane, lanes_, count / width);
      for (int p = packs.first; p < packs.end; p += packs.stride) {
        LEAGUE_VECTORISED
        for (int e = 0; e < width; ++e) {
          const D other = value(p * width + e);
          mine[e] = other < mine[e] ? other : mine[e];
        }
      }
      for (int i = count / width * width + lane; i < count; i += lanes_) {
        const D other = value(i);
        mine[i % width] = other < mine[i % width] ? other : mine[i % width];
      }
      for (int e = 0; e < width; ++e) minima_(lane * width + e) = mine[e];
    });
  }
  KOKKOS_FUNCTION void bound(int k) const {
    const int parts = lanes_ * width;
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team_, parts), [&](int part) {
      const D mine = minima_(part);
      int below = 0;
      for (int other = 0; other < parts; ++other) below += minima_(other) < mine ? 1 : 0;
      if (below < k && mine > limit_(0)) Kokkos::atomic_max(&limit_(0), mine);
    });
  }
  template <class Value, class Index>
  KOKKOS_FUNCTION void collect(int count, const Value& value, const Index& index) const {
    const D limit = limit_(0);
    const auto push = [&](int i) {
      if (value(i) > limit) return;
      const int place = Kokkos::atomic_fetch_add(&count_(0), 1);
      if (place < max_found) found_(place) = selection_key(value(i), index(i));
    };
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team_, lanes_), [&](int lane) {
      const auto packs = blocks::share(lane, lanes_, count / width);
      for (int p = packs.first; p < packs.end; p += packs.stride) {
        int any = 0;
        LEAGUE_VECTORISED
        for (int e = 0; e < width; ++e) any |= value(p * width + e) <= limit ? 1 : 0;
        if (any != 0)
          for (int e = 0; e < width; ++e) push(p * width + e);
      }
      for (int i = count / width * width + lane; i < count; i += lanes_) push(i);
    });
  }
  KOKKOS_FUNCTION void rank(int k) const {
    const int found = count_(0);
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team_, found), [&](int i) {
      const Key mine = found_(i);
      int smaller = 0;
      for (int other = 0; other < found; ++other) smaller += found_(other) < mine ? 1 : 0;
      if (smaller < k) best_(smaller) = mine;
    });
  }
  template <class Value, class Index>
  KOKKOS_FUNCTION void pass_by_pass(int count, int k, const Value& value, const Index& index) const {
    Key from = 0;
    for (int pass = 0; pass < k && from != none; ++pass) {
      Key smallest = none;
      Kokkos::parallel_reduce(
          Kokkos::TeamVectorRange(team_, count),
          [&](int i, Key& mine) {
            const Key other = selection_key(value(i), index(i));
            if (other >= from && other < mine) mine = other;
          },
          Kokkos::Min<Key>(smallest));
      blocks::once_per_team(team_, [&] { best_(pass) = smallest; });
      from = smallest == none ? none : smallest + 1;
    }
  }

  const Member& team_;
  int lanes_;
  Scratch<Key> found_, best_;
  Scratch<D> minima_, limit_;
  Scratch<int> count_;
};

// A team takes a query, and its row of a matrix of squared distances.
/// Selection for `queries` queries from `first` on, of `n` distances each, rows `pitch` apart.
template <class D>
struct SelectRows {
  std::int64_t first, queries, n, pitch;
  int k, lanes;
  Vector<const D> matrix;
  Vector<std::int64_t> neighbours;

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const Selection<D> selection(team, lanes);
    for (std::int64_t query = team.league_rank(); query < queries; query += team.league_size()) {
      selection.find(static_cast<int>(n), k, [&](int i) { return matrix(query * pitch + i); }, [](int i) { return i; });
      team.team_barrier();
      Kokkos::parallel_for(Kokkos::TeamVectorRange(team, k),
                           [&](int i) { neighbours((first + query) * k + i) = selection.index(i); });
      team.team_barrier();
    }
  }
};
template <class D>
void select_rows(const Exec& exec, SelectRows<D> rows) {
  rows.lanes = of_selection.team;
  Kokkos::parallel_for("knn/select",
                       Team(exec, league_of(rows.queries), rows.lanes, 1)
                           .set_scratch_size(0, Kokkos::PerTeam(Selection<D>::scratch_bytes(rows.lanes))),
                       rows);
}

}  // namespace league::knn::kokkos_model
