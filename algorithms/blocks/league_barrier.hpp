// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "algorithms/blocks/group.hpp"
#include "backends/backend.hpp"
#include "backends/launch.hpp"

namespace league::blocks {

/// Polls of a wait before it gives up: about half a minute on a GPU.
inline constexpr unsigned max_polls = 1U << 26;

/// A barrier over all teams of a league: what they wrote before is visible to all after. Each team adds to one word,
/// all together 2^31, so that its highest bit flips when all have arrived, and the word is ready for the next barrier
/// and the next kernel. (Source: the grid barrier of NVIDIA's cooperative groups.) With one team, the barrier of its
/// threads. `atomics`: `add` returns the value before, `load` the current one, `fence` orders both with other accesses,
/// `give_up` ends the kernel after `max_polls`: a team that never arrives does not run at the same time.
/// @pre all threads of all teams call; all teams run at once; `word` is 0 before its first use
template <class Barrier, class Atomics>
LEAGUE_FUNCTION void league_barrier(const Group<Barrier>& team, std::int64_t rank, std::int64_t teams, unsigned* word,
                                    const Atomics& atomics) {
  constexpr unsigned all = 1U << 31;
  team.barrier();
  if (teams == 1) return;
  if (team.rank == 0) {
    atomics.fence();
    const unsigned before = atomics.add(word, rank == 0 ? all - static_cast<unsigned>(teams - 1) : 1U);
    for (unsigned polls = 0; ((atomics.load(word) ^ before) & all) == 0; ++polls)
      if (polls == atomics.max_polls) atomics.give_up();
    atomics.fence();
  }
  team.barrier();
}

/// The league of an automatic launch whose teams wait for each other in every step: a team per multiprocessor for each
/// `few_rows` of a team, at most `most` teams. Waiting for more teams takes longer than a team's few rows do.
inline int waiting_league(std::int64_t rows, std::int64_t few_rows, int multiprocessors, int most) {
  const auto of_each = std::max<std::int64_t>(1, ceil_div(rows, multiprocessors * few_rows));
  return static_cast<int>(std::min<std::int64_t>(most, multiprocessors * of_each));
}

/// Checks the league of a kernel whose teams wait for each other. `held`: teams that are on the device at once.
/// @throws Unsupported for a larger league
inline void require_at_once(Launch launch, int held) {
  if (launch.league > held)
    throw Unsupported("league " + std::to_string(launch.league) +
                      ": its teams wait for each other, and the device holds " + std::to_string(held) + " teams of " +
                      std::to_string(launch.team * launch.vector) +
                      " threads at the same time; launch no more than those");
}

}  // namespace league::blocks
