// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/words_native.hpp"
#include "algorithms/distance_matrix/host/shard.hpp"
#include "backends/kokkos/kokkos.hpp"

// On a host a thread of a team takes rows of tiles. Vectorisation is explicit: Kokkos' vector lanes are a loop there,
// whose sums would not stay in registers.
namespace league::distance_matrix::kokkos_model {

/// Calls `body(item)` for every item, each by one thread of a team.
template <class Body>
void each_item(const kokkos::Exec& exec, Launch launch, const char* label, std::int64_t items, const Body& body) {
  const int league = launch.league > 0 ? launch.league : league_of(ceil_div<std::int64_t>(items, launch.team));
  Kokkos::parallel_for(label, kokkos::Team(exec, league, launch.team, 1), [=](const kokkos::Member& team) {
    const std::int64_t first = std::int64_t{team.league_rank()} * team.team_size() + team.team_rank();
    for (std::int64_t item = first; item < items; item += std::int64_t{team.league_size()} * team.team_size())
      body(item);
  });
}

template <class T, Kind kind>
class SpecialisedHost final : public DistanceShard {
 public:
  SpecialisedHost(const DistanceMatrix& problem, const Context& context, const Shard& shard)
      : DistanceShard(problem, context, shard), exec_(kokkos::instance(runtime(), queue())), tiles_(*this) {}
  Launch configure(Launch launch) override {
    requested_ = launch = resolve(launch, {0, 1, 1}, kokkos::limits(queue()));
    const std::int64_t tiles = ceil_div<std::int64_t>(block_rows(), blocks::HostTile<T>::rows);
    if (launch.league == 0) launch.league = league_of(ceil_div(tiles, group() * launch.team));
    launch.tile = static_cast<int>(group()) * blocks::HostTile<T>::rows;
    return launch;
  }

 private:
  [[nodiscard]] std::int64_t group() const { return tiles_.group(queue().device().threads); }
  void block(Stages& stages, Range range) override {
    tiles_.block(stages, range, group(), [this](const char* label, std::int64_t items, const auto& body) {
      each_item(exec_, requested_, label, items, body);
    });
  }
  const kokkos::Exec& exec_;
  Launch requested_;
  HostTiles<T, kind, kokkos::Array, blocks::NativeWords> tiles_;
};

}  // namespace league::distance_matrix::kokkos_model
