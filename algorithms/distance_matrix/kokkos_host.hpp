// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/distance_matrix/host_part.hpp"
#include "backends/kokkos/kokkos.hpp"

// On a host a thread of a team takes rows of tiles, and its vector lanes are those of the compiler: Kokkos' own lanes
// are steps of a loop there, whose sums would not stay in registers.
namespace league::kokkos::distance_matrix {

using league::distance_matrix::DistanceMatrix, league::distance_matrix::HostPart, league::distance_matrix::Method;

/// Calls `body(item)` for every item, each by one thread of a team.
template <class Body>
void each_item(const Exec& exec, Launch launch, const char* label, std::int64_t items, const Body& body) {
  const int league = launch.league > 0 ? launch.league : league_of(ceil_div<std::int64_t>(items, launch.team));
  Kokkos::parallel_for(label, Team(exec, league, launch.team, 1), [=](const Member& team) {
    const std::int64_t first = std::int64_t{team.league_rank()} * team.team_size() + team.team_rank();
    for (std::int64_t item = first; item < items; item += std::int64_t{team.league_size()} * team.team_size())
      body(item);
  });
}

template <class T, Method method>
class PortableHost final : public HostPart<Array<T>, method> {
  using Base = HostPart<Array<T>, method>;

 public:
  PortableHost(const DistanceMatrix& problem, const Context& context, const Shard& shard)
      : Base(problem, context, shard,
             [&](const char* label, std::int64_t size) {
               return Array<T>(instance(context.runtime, context.runtime.queue(shard.device)), label, size);
             }),
        exec_(instance(context.runtime, this->queue())) {}
  Launch configure(Launch launch) override {
    requested_ = launch_ = resolve(launch, {0, 1, 1}, limits(this->queue()));
    const std::int64_t tiles = ceil_div<std::int64_t>(this->block_rows(), blocks::HostTile<T>::rows);
    if (launch_.league == 0) launch_.league = league_of(ceil_div(tiles, group() * launch_.team));
    launch_.tile = static_cast<int>(group()) * blocks::HostTile<T>::rows;
    return launch_;
  }

 private:
  [[nodiscard]] std::int64_t group() const { return Base::group(this->queue().device().threads); }
  void block(Stages& stages, Range range, T* out) override {
    Base::block(stages, range, out, group(), [this](const char* label, std::int64_t items, const auto& body) {
      each_item(exec_, requested_, label, items, body);
    });
  }
  Exec exec_;
  Launch requested_, launch_;
};

}  // namespace league::kokkos::distance_matrix
