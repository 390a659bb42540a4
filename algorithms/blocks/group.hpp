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

/// Tree reduction of `scratch` [size of the group]; the tree depends on the size only. The result is in `scratch[0]`:
/// for the first thread at once, for the others after a barrier. @pre all threads call
template <class Barrier, class T, class Combine>
LEAGUE_FUNCTION void combine_in_scratch(const Group<Barrier>& group, T* scratch, const Combine& combine) {
  for (int left = group.size, half = (left + 1) / 2; left > 1; left = half, half = (left + 1) / 2) {
    group.barrier();
    if (group.rank < left / 2) scratch[group.rank] = combine(scratch[group.rank], scratch[group.rank + half]);
  }
}

}  // namespace league::blocks
