// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/cnn/host.hpp"
#include "backends/kokkos/kokkos.hpp"

/// Kokkos on hosts; line beside line with `openmp.cpp`.
namespace league::cnn::kokkos_model {

struct Threads {
  Threads(Runtime& runtime, Queue& queue, Launch with) : exec(kokkos::instance(runtime, queue)), launch(with) {}
  static Launch resolve(Queue& queue, Launch launch) {
    launch = league::resolve(launch, {0, 1, 1}, kokkos::limits(queue));
    if (launch.league == 0) launch.league = std::max(1, queue.device().threads / launch.team);
    if (launch.league > max_threads / launch.team)
      throw Unsupported("league " + std::to_string(launch.league) + " x team size " + std::to_string(launch.team) +
                        ": up to " + std::to_string(max_threads) + " threads, each with its own sums");
    return launch;
  }
  /// Calls phase(thread) in all threads of all teams.
  template <class Phase>
  void operator()(const Phase& phase) const {
    Kokkos::parallel_for(
        "cnn/phase", kokkos::Team(exec, launch.league, launch.team, 1),
        [&](const kokkos::Member& team) { phase(team.league_rank() * team.team_size() + team.team_rank()); });
  }
  static constexpr int max_threads = 1024;
  const kokkos::Exec& exec;
  Launch launch;
};

template <class Step>
using OnHost = HostShard<Threads, kokkos::Array, Step>;

}  // namespace league::cnn::kokkos_model
