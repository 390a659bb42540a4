// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/league_barrier.hpp"
#include "algorithms/blocks/once_per_team_kokkos.hpp"
#include "algorithms/blocks/shard_sums.hpp"

namespace league::blocks {

/// As `ShardSums::add`, by the lanes of a team: a value each. @pre as there; `sums` are written, before a barrier
template <class Sums>
KOKKOS_INLINE_FUNCTION void add_over_shards(const kokkos::Member& team, const ShardSums& shards, int n,
                                            const Sums& sums) {
  const DeviceView& view = shards.view;
  const unsigned stamp = *view.count + 1;
  Kokkos::parallel_for(Kokkos::TeamVectorRange(team, n), [&](int i) {
    const double mine = sums(i);
    for (int step = 1; step < view.shards; ++step) {  // every device starts with a different one (no contention)
      stamped::Word* to = view.words[(view.self + step) % view.shards] + view.from(view.self, stamp) + i;
      stamped::publish(to, to + view.high(), mine, stamp);
    }
    double sum = 0;
    for (int sender = 0; sender < view.shards; ++sender) {
      double value = mine;
      const stamped::Word* slot = view.words[view.self] + view.from(sender, stamp) + i;
      for (unsigned polls = 0; sender != view.self && !stamped::arrived(slot, slot + view.high(), stamp, value);
           ++polls)
        if (polls == max_polls) Kokkos::abort("the sums of a shard never arrived");
      sum += value;
    }
    sums(i) = sum;
  });
  team.team_barrier();
  once_per_team(team, [&] { *view.count = stamp; });
}
template <class Sums>
KOKKOS_INLINE_FUNCTION void add_over_shards(const kokkos::Member&, const OwnSums&, int, const Sums&) {}

}  // namespace league::blocks
