// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/sum/chunks.hpp"
#include "backends/kokkos/kokkos.hpp"

namespace league::kokkos::sum {

using league::sum::Chunks, league::sum::Total;

/// What a lane adds of `size` elements.
template <class T>
KOKKOS_INLINE_FUNCTION Total<T> lane_sum(const T* from, int size, int lane, int lanes) {
  if constexpr (on_gpu)
    return league::sum::lane_sum(from, size, lane, lanes);
  else
    return league::sum::host_lane_sum(from, size, lane, lanes);
}

/// As `Launch`, with the chunks that a team takes at a time: on a host enough to be worth its start.
struct TeamLaunch : Launch {
  int run = 1;
  [[nodiscard]] KOKKOS_INLINE_FUNCTION int lanes() const { return team * vector; }
};

/// Calls `body(chunk)` for all chunks that a team takes.
template <class Body>
KOKKOS_INLINE_FUNCTION void for_chunks(const Member& team, TeamLaunch launch, Chunks chunks, const Body& body) {
  for (std::int64_t first = std::int64_t{team.league_rank()} * launch.run; first < chunks.count;
       first += std::int64_t{team.league_size()} * launch.run)
    for (std::int64_t chunk = first; chunk < first + launch.run && chunk < chunks.count; ++chunk) body(chunk);
}

// A team takes one chunk after another; a lane every lanes-th pack of it.
template <class T>
void two_stage(const Exec& exec, TeamLaunch launch, Chunks chunks, Vector<const T> x, Total<T>* partials) {
  Kokkos::parallel_for(
      "sum/two_stage", Team(exec, launch.league, launch.team, launch.vector), KOKKOS_LAMBDA(const Member& team) {
        for_chunks(team, launch, chunks, [&](std::int64_t chunk) {
          const T* from = x.data() + chunk * chunks.chunk;
          const int size = chunks.size_of(chunk), lanes = launch.lanes();
          Total<T> total = 0;
          Kokkos::parallel_reduce(
              Kokkos::TeamVectorRange(team, lanes),
              [&](int lane, Total<T>& sum) { sum += lane_sum(from, size, lane, lanes); }, total);
          Kokkos::single(Kokkos::PerTeam(team), [&] { partials[chunk] = total; });
        });
      });
}

inline TeamLaunch configure(Launch wanted, const Queue& queue, Chunks chunks) {
  TeamLaunch launch{resolve(wanted, on_gpu ? Launch{0, 256, 1} : Launch{0, 1, 1}, limits(queue))};
  constexpr int worth_a_start = 1 << 15;  // elements
  if (!on_gpu) launch.run = ceil_div(worth_a_start, chunks.chunk);
  if (launch.league == 0) launch.league = league_of(ceil_div<std::int64_t>(chunks.count, launch.run));
  return launch;
}

}  // namespace league::kokkos::sum
