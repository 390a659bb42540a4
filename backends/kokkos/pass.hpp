// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "backends/kokkos/flat.hpp"
#include "backends/kokkos/kokkos.hpp"
#include "backends/pass.hpp"

namespace league {

template <class T>
struct Viewed<kokkos::Vector<T>> {
  using Value = std::remove_const_t<T>;
  static constexpr bool input = std::is_const_v<T>;
};

namespace kokkos {

/// The launch of a one-pass kernel, and its rows (by global index).
struct Pass {
  template <class T>
  using Array = kokkos::Array<T>;
  static constexpr bool has_placements = on_gpu;

  Pass(Runtime& runtime, Queue& queue, Launch which, Range range)
      : launch(which), rows(range), llc_bytes(runtime.info(queue.device()).llc_bytes), exec(instance(runtime, queue)) {}
  [[nodiscard]] std::int64_t size() const { return rows.size(); }
  /// Whether arrays of so many bytes together do not stay in the last-level cache.
  [[nodiscard]] bool beyond_cache(std::int64_t bytes) const { return bytes > llc_bytes; }
  [[nodiscard]] Team policy() const { return Team(exec, launch.league, launch.team, launch.vector); }

  /// Fills in defaults; `tile`: rows per team at a time. On a host lanes are iterations of a thread's loop, and a tile
  /// is large enough to amortise the start of a team.
  static Launch resolve(Queue& queue, Launch launch, Share share, std::int64_t rows) {
    constexpr int host_block = 4096;
    if (share.flat) return resolve_flat(launch);
    const LaunchLimits most = limits(queue);
    const int team = on_gpu ? share.team : std::min(share.host_team, most.team_times_vector);
    launch = league::resolve(launch, {0, team, 1}, most);
    launch.tile =
        share.per_team > 0 ? share.per_team : share.per_lane * (on_gpu ? launch.team * launch.vector : host_block);
    if (launch.league == 0) launch.league = league_of(ceil_div<std::int64_t>(rows, launch.tile));
    return launch;
  }
  static void require(Placement placement) {
    if (placement == Placement::device) return;
    if (!on_gpu) throw Unsupported("a CPU has one memory: no managed or streamed placement");
    if (placement == Placement::unified_prefetch) throw Unsupported("Kokkos has no prefetch of shared memory");
  }

  Launch launch;
  Range rows;
  std::int64_t llc_bytes;
  const Exec& exec;
};

}  // namespace kokkos
}  // namespace league
