// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/atomics_native_kokkos.hpp"
#include "algorithms/blocks/group_native_kokkos.hpp"
#include "algorithms/blocks/subgroup_native.hpp"
#include "algorithms/knn/common/mma_select.hpp"
#include "backends/kokkos/kokkos.hpp"

/// Thresholds, selection and votes of `mma` in Kokkos, with the native barrier, shuffles and atomics.
namespace league::knn::kokkos_specialised_model {

using blocks::NativeAtomics, blocks::NativeLanes;
using kokkos::Exec, kokkos::Member, kokkos::Team;

/// One query per subgroup: `body(query, lanes)`.
template <class Body>
struct ForSubgroups {
  static constexpr int together = kokkos::on_gpu ? 4 : 1;  ///< subgroups of a team
  std::int64_t queries;
  Body body;
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const NativeLanes lanes{team.team_rank() % NativeLanes::size};
    for (std::int64_t query = std::int64_t{team.league_rank()} * together + team.team_rank() / NativeLanes::size;
         query < queries; query += std::int64_t{team.league_size()} * together)
      body(query, lanes);
  }
};
template <class Body>
void for_subgroups(const Exec& exec, const char* label, std::int64_t queries, const Body& body) {
  using Kernel = ForSubgroups<Body>;
  const int league = league_of(ceil_div<std::int64_t>(queries, Kernel::together));
  Kokkos::parallel_for(label, Team(exec, league, Kernel::together * NativeLanes::size, 1), Kernel{queries, body});
}
template <class Tile>
void choose_threshold_by_subgroups(const Exec& exec, const MmaWork<Tile>& work) {
  for_subgroups(
      exec, "knn/threshold", work.test_pieces.rows,
      KOKKOS_LAMBDA(std::int64_t query, const NativeLanes& lanes) { choose_threshold_in_passes(work, query, lanes); });
}
template <class Tile, class T>
void choose_nearest_by_subgroups(const Exec& exec, const MmaWork<Tile>& work, const NearestRows<T>& rows) {
  for_subgroups(
      exec, "knn/nearest", work.queries, KOKKOS_LAMBDA(std::int64_t query, const NativeLanes& lanes) {
        choose_nearest_in_passes(work, rows, query, lanes);
      });
}

using SelectPolicy = Kokkos::TeamPolicy<Exec, Kokkos::IndexType<std::int64_t>, Kokkos::LaunchBounds<select_threads>>;
/// One query per team: `body(query, group, scratch)`.
template <class Scratch, class Body>
struct ForTeams {
  std::int64_t queries;
  Body body;
  KOKKOS_FUNCTION void operator()(const typename SelectPolicy::member_type& team) const {
    auto& scratch = *kokkos::aligned_scratch<Scratch>(team, sizeof(Scratch));
    const auto group = blocks::native_threads_of<select_threads>(team);
    for (std::int64_t query = team.league_rank(); query < queries; query += team.league_size())
      body(query, group, scratch);
  }
};
template <class Scratch, class Body>
void for_teams(const Exec& exec, const char* label, std::int64_t queries, const Body& body) {
  const auto policy = SelectPolicy(exec, league_of(queries), select_threads, 1)
                          .set_scratch_size(0, Kokkos::PerTeam(sizeof(Scratch) + 16));
  Kokkos::parallel_for(label, policy, ForTeams<Scratch, Body>{queries, body});
}
template <class Tile>
struct ChooseThreshold {
  MmaWork<Tile> work;
  template <class Group>
  KOKKOS_FUNCTION void operator()(std::int64_t query, const Group& group, SelectScratch& scratch) const {
    choose_threshold<NativeAtomics>(work, query, group, scratch);
  }
};
template <class Tile, class T>
struct ChooseAndVote {
  MmaWork<Tile> work;
  NearestRows<T> rows;
  template <class Group>
  KOKKOS_FUNCTION void operator()(std::int64_t query, const Group& group, MmaSelectScratch& scratch) const {
    const NativeLanes lanes{group.rank % NativeLanes::size};
    choose_and_vote<NativeAtomics>(
        work, rows, query, group, NativeLanes::size, [lanes](double mine) { return lanes.sum(mine); }, scratch);
  }
};

}  // namespace league::knn::kokkos_specialised_model
