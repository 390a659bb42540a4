// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/group.hpp"
#include "algorithms/blocks/sums.hpp"
#include "backends/stamped.hpp"

/// Sums over all teams of a league that runs at once, for kernels that take all steps of a solve: an all-reduce that is
/// its own barrier. Teams send each other stamped words, which takes one trip through memory; with `league_barrier` it
/// would take three.
namespace league::blocks {

/// The words of step `step` on a board of [low and high half x parity of the step x value x team], 0 before the first
/// step. A slot is written again two steps later: by then each of its readers has sent its sums of the step between.
template <int n>
struct Slots {
  std::int64_t teams;
  stamped::Word *low, *high;
  unsigned stamp;

  static constexpr std::int64_t board_words(std::int64_t teams) { return 4 * n * teams; }
  LEAGUE_FUNCTION static Slots of(stamped::Word* board, std::int64_t teams, std::int64_t step) {
    stamped::Word* low = board + (step & 1) * n * teams;
    return {teams, low, low + 2 * n * teams, static_cast<unsigned>(step + 1)};
  }
  /// Sends the sums of team `rank`, a value per thread while there are threads. @pre all its threads call
  template <class Barrier>
  LEAGUE_FUNCTION void send(const Group<Barrier>& team, std::int64_t rank, const Sums<double, n>& sums) const {
    const int last = team.size - 1;
    for (int i = 0; i < n; ++i)
      if (team.rank == (i < last ? i : last))
        stamped::publish(low + i * teams + rank, high + i * teams + rank, sums.values[i], stamp);
  }
};

/// The sums in scratch.
template <int n>
LEAGUE_FUNCTION Sums<double, n> sums_in(const double* totals) {
  Sums<double, n> sums;
  for (int i = 0; i < n; ++i) sums.values[i] = totals[i];
  return sums;
}

}  // namespace league::blocks
