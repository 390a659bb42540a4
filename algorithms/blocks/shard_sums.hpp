// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/group.hpp"
#include "backends/communicator.hpp"
#include "backends/stamped.hpp"

namespace league::blocks {

/// The end of an iteration of a solve, in the last team of the kernel that accumulates: with a single shard it takes
/// the step. With several it adds the sums of all shards first, if the communicator's engine has receive slots for
/// kernels; otherwise the communicator adds them, and another kernel takes the step.
struct ShardSums {
  bool takes_step = false;
  DeviceView view = {};  ///< no shards: there is nothing to add, see `with_shards`

  /// Adds `sums` [n] of all shards in place, in their order, with the same bits on each. A thread sends its own values
  /// to all shards and waits for theirs: one trip over the links, and no barrier between devices. `atomics`: as for
  /// `league_barrier`, for its time-out.
  /// @pre all threads of the team call; the view has shards; n is at most its capacity; the kernels of all shards run
  /// at once
  template <class Barrier, class Atomics>
  LEAGUE_FUNCTION void add(const Group<Barrier>& team, int n, double* sums, const Atomics& atomics) const {
    team.barrier();
    const unsigned stamp = *view.count + 1;
    for (int i = team.rank; i < n; i += team.size) {
      const double mine = sums[i];
      for (int step = 1; step < view.shards; ++step) {  // every device starts with a different one (no contention)
        stamped::Word* to = view.words[(view.self + step) % view.shards] + view.from(view.self, stamp) + i;
        stamped::publish(to, to + view.high(), mine, stamp);
      }
      double sum = 0;
      for (int sender = 0; sender < view.shards; ++sender)
        sum += sender == view.self ? mine : receive(view.from(sender, stamp) + i, stamp, atomics);
      sums[i] = sum;
    }
    team.barrier();
    if (team.rank == 0) *view.count = stamp;
  }

 private:
  template <class Atomics>
  [[nodiscard]] LEAGUE_FUNCTION double receive(std::int64_t at, unsigned stamp, const Atomics& atomics) const {
    const stamped::Word* slot = view.words[view.self] + at;
    double value = 0;
    for (unsigned polls = 0; !stamped::arrived(slot, slot + view.high(), stamp, value); ++polls)
      if (polls == atomics.max_polls) atomics.give_up();
    return value;
  }
};

/// In place of ShardSums where there is nothing to add: a kernel of few microseconds takes longer if it contains what
/// it does not run.
struct OwnSums {
  bool takes_step;
  template <class Barrier, class Atomics>
  LEAGUE_FUNCTION void add(const Group<Barrier>& /*team*/, int /*n*/, double* /*sums*/, const Atomics&) const {}
};

/// Calls `body` with what a kernel needs of `shards`: themselves, or OwnSums.
template <class Body>
void with_shards(const ShardSums& shards, const Body& body) {
  if (shards.view.shards > 0)
    body(shards);
  else
    body(OwnSums{shards.takes_step});
}

}  // namespace league::blocks
