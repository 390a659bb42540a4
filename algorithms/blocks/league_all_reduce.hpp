// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/league_barrier.hpp"
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
  /// The sums that team `other` sends, 0 if there is no such team. The words of up to eight values are read together,
  /// so that their latencies overlap; receivers go on when `all` of them have theirs. `atomics`: as for
  /// `league_barrier`, for its time-out.
  template <class Receivers, class Atomics>
  [[nodiscard]] LEAGUE_FUNCTION Sums<double, n> receive(std::int64_t other, const Receivers& receivers,
                                                        const Atomics& atomics) const {
    Sums<double, n> sums;
    for (int first = 0; first < n; first += few_sums) {
      bool all = false;
      for (unsigned polls = 0; !all; ++polls) {
        unsigned missing = 0;
        for (int i = first; i < n && i < first + few_sums; ++i)
          if (other < teams)
            missing |= stamped::read(low + i * teams + other, high + i * teams + other, stamp, sums.values[i]);
        all = receivers.all(missing == 0);
        if (polls == atomics.max_polls) atomics.give_up();
      }
    }
    return sums;
  }
};

/// Adds the sums of all teams, in the same order in each; all threads get them. `receivers`: threads that receive
/// together, a team or each of its subgroups. Each receives the sums of every size-th team; `sum(mine)` adds over them,
/// `all(here)` is whether all are there, or whether this thread's are. With one team, its sums.
/// @pre all threads of all teams call, with `step` incremented each time, and a barrier of the team since the last call
template <int n, class Barrier, class Receivers, class Atomics>
LEAGUE_FUNCTION Sums<double, n> league_all_reduce(const Group<Barrier>& team, const Receivers& receivers,
                                                  std::int64_t rank, std::int64_t teams, const Sums<double, n>& of_team,
                                                  stamped::Word* board, std::int64_t step, const Atomics& atomics) {
  if (teams == 1) return of_team;
  const auto slots = Slots<n>::of(board, teams, step);
  slots.send(team, rank, of_team);
  Sums<double, n> mine;
  for (std::int64_t first = 0; first < teams; first += receivers.size())
    mine += slots.receive(first + receivers.rank(), receivers, atomics);
  return receivers.sum(mine);
}

/// Words of the board of `league_all_reduce` with `n` sums in scratch, 0 before the first step.
constexpr std::int64_t all_reduce_words(int n, std::int64_t teams) { return 4 * n * (teams + 1); }

/// The words that teams send each other in a step: [low and high half x parity of the step x value x sender].
struct SumWords {
  std::int64_t senders;
  stamped::Word *low, *high;
  unsigned stamp;

  LEAGUE_FUNCTION static SumWords of(stamped::Word* board, int n, std::int64_t senders, std::int64_t step) {
    stamped::Word* low = board + (step & 1) * n * senders;
    return {senders, low, low + 2 * n * senders, static_cast<unsigned>(step + 1)};
  }
  LEAGUE_FUNCTION void send(int i, std::int64_t sender, double sum) const {
    stamped::publish(low + i * senders + sender, high + i * senders + sender, sum, stamp);
  }
  /// The sum of value `i` over every `parts`-th sender from `part`. Several words are read together, so that their
  /// latencies overlap. `atomics`: as for `league_barrier`, for its time-out.
  template <class Atomics>
  [[nodiscard]] LEAGUE_FUNCTION double receive(int i, int part, int parts, const Atomics& atomics) const {
    constexpr int together = 8;
    double sum = 0;
    for (std::int64_t first = part; first < senders; first += together * parts) {
      double values[together] = {};
      bool all = false;
      for (unsigned polls = 0; !all; ++polls) {
        unsigned missing = 0;
        unrolled<together>([&](int k) {
          const std::int64_t sender = first + k * parts;
          if (sender < senders)
            missing |= stamped::read(low + i * senders + sender, high + i * senders + sender, stamp, values[k]);
        });
        all = missing == 0;
        if (polls == atomics.max_polls) atomics.give_up();
      }
      unrolled<together>([&](int k) { sum += values[k]; });
    }
    return sum;
  }
};

/// `league_all_reduce` for `n` sums of a team in its scratch `sums`, more than a thread keeps in registers: they become
/// those of all teams, the same in each. A few words are read by every team, one trip through memory; of many, every
/// team adds some values of all teams and sends their sums, two trips.
/// `board`: [all_reduce_words]; `scratch`: a double per thread, at least n.
/// @pre all threads of all teams call, after a barrier, with `step` incremented each time
template <class Barrier, class Atomics>
LEAGUE_FUNCTION void league_all_reduce(const Group<Barrier>& team, std::int64_t rank, std::int64_t teams, int n,
                                       double* sums, stamped::Word* board, std::int64_t step, const Atomics& atomics,
                                       double* scratch) {
  constexpr int few_words = 8;  // per thread
  if (teams == 1) return;
  const auto words = SumWords::of(board, n, teams, step);
  const auto totals = SumWords::of(board + 4 * n * teams, n, 1, step);
  const bool once = n * teams <= few_words * team.size;
  for (int i = team.rank; i < n; i += team.size) words.send(i, rank, sums[i]);
  const int own = once ? n : static_cast<int>((n - rank + teams - 1) / teams);  // values: rank, rank + teams, ...
  const auto value = [=](int number) { return once ? number : static_cast<int>(rank + number * teams); };
  const int fit = own > 0 ? team.size / own : 1, parts = fit < 1 ? 1 : fit;
  for (int item = team.rank; item < own * parts; item += team.size)
    scratch[item] = words.receive(value(item / parts), item % parts, parts, atomics);
  team.barrier();
  for (int number = team.rank; number < own; number += team.size) {
    const double sum = sum_in_order<8>(parts, [&](int part) { return scratch[number * parts + part]; });
    if (once)
      sums[number] = sum;
    else
      totals.send(value(number), 0, sum);
  }
  for (int i = team.rank; i < n && !once; i += team.size) sums[i] = totals.receive(i, 0, 1, atomics);
  team.barrier();
}

/// Scratch in doubles to receive `n` sums of a league by teams of `threads`: few are received in registers.
template <int n>
LEAGUE_FUNCTION constexpr int received_size(int threads) {
  return n > few_sums ? n + (threads > n ? threads : n) : 0;
}
/// Words of the board of a league's `n` sums that all threads get, 0 before the first step.
template <int n>
constexpr std::int64_t league_sums_words(std::int64_t teams) {
  return n > few_sums ? all_reduce_words(n, teams) : Slots<n>::board_words(teams);
}
/// `league_all_reduce` for sums of a team that each of its threads has. More than a few pass through `scratch`
/// [received_size]: a thread then waits for words of one value, not of all. @pre as for `league_all_reduce`
template <int n, class Barrier, class Receivers, class Atomics>
LEAGUE_FUNCTION Sums<double, n> league_all_reduce(const Group<Barrier>& team, const Receivers& receivers,
                                                  std::int64_t rank, std::int64_t teams, const Sums<double, n>& of_team,
                                                  stamped::Word* board, std::int64_t step, const Atomics& atomics,
                                                  double* scratch) {
  if constexpr (n > few_sums) {
    if (teams == 1) return of_team;
    const int last = team.size - 1;
    unrolled<n>([&](int i) {
      if (team.rank == (i < last ? i : last)) scratch[i] = of_team.values[i];
    });
    team.barrier();
    league_all_reduce(team, rank, teams, n, scratch, board, step, atomics, scratch + n);
    Sums<double, n> sums;
    unrolled<n>([&](int i) { sums.values[i] = scratch[i]; });
    return sums;
  } else {
    return league_all_reduce(team, receivers, rank, teams, of_team, board, step, atomics);
  }
}

}  // namespace league::blocks
