// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "backends/portable.hpp"

namespace league::blocks {

/// A group of cooperating threads, and this thread's rank in it: a CUDA block (group_cuda.hpp), a Kokkos team
/// (group_kokkos.hpp), or one host thread. `barrier()` synchronises them and makes their writes visible.
template <class Barrier>
struct Group {
  int rank, size;
  Barrier barrier;
};
template <class Barrier>
LEAGUE_FUNCTION Group<Barrier> group_of(int rank, int size, const Barrier& barrier) {
  return {rank, size, barrier};
}

/// For one host thread.
struct NoBarrier {
  LEAGUE_FUNCTION void operator()() const {}
};
inline constexpr Group<NoBarrier> one_thread{0, 1, {}};

/// Tree reduction of `scratch` [size of the group]; the tree depends on the size only. A thread combines up to 8
/// values per level, so that 512 take three barriers. The result is in `scratch[0]`: for the first thread at once, for
/// the others after a barrier. @pre all threads call
template <class Barrier, class T, class Combine>
LEAGUE_FUNCTION void combine_in_scratch(const Group<Barrier>& group, T* scratch, const Combine& combine) {
  constexpr int together = 8;
  for (int left = group.size, next = 0; left > 1; left = next) {
    next = (left + together - 1) / together;
    group.barrier();
    if (group.rank >= next) continue;
    T value = scratch[group.rank];      // no other thread reads or writes it in this level
    for (int n = 1; n < together; ++n)  // unrolled: the reads overlap
      if (group.rank + n * next < left) value = combine(value, scratch[group.rank + n * next]);
    scratch[group.rank] = value;
  }
}

}  // namespace league::blocks
