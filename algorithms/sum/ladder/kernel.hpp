// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/group.hpp"
#include "algorithms/sum/common/chunks.hpp"

/// The trees of the naive sums, over scratch memory, the same in CUDA and Kokkos.
/// Source: M. Harris, Optimizing Parallel Reduction in CUDA (NVIDIA, 2007).
namespace league::sum {

/// Interleaved addressing: in the level of `step` the threads whose rank is a multiple of 2 step add, so that the
/// threads of a warp diverge in every level.
struct DivergentTree {
  template <class Barrier, class V>
  static LEAGUE_FUNCTION void add(const blocks::Group<Barrier>& group, V* scratch) {
    for (int step = 1; step < group.size; step *= 2) {
      group.barrier();
      if (group.rank % (2 * step) == 0 && group.rank + step < group.size)
        scratch[group.rank] += scratch[group.rank + step];
    }
  }
};

/// Sequential addressing: in every level the first half of the threads adds the second half, so that whole warps work
/// or rest, and neighbouring threads use neighbouring banks.
struct SequentialTree {
  template <class Barrier, class V>
  static LEAGUE_FUNCTION void add(const blocks::Group<Barrier>& group, V* scratch) {
    for (int left = group.size, half = 0; left > 1; left = half) {
      half = (left + 1) / 2;
      group.barrier();
      if (group.rank + half < left) scratch[group.rank] += scratch[group.rank + half];
    }
  }
};

/// The sum of a chunk with one element per thread at a time, and a tree for these; the first thread has it. `scratch`
/// [size of the group]. @pre all threads call
template <class Tree, class Barrier, class T>
LEAGUE_FUNCTION Total<T> tree_sum(const blocks::Group<Barrier>& group, const T* from, int size, Total<T>* scratch) {
  Total<T> sum = 0;
  for (int first = 0; first < size; first += group.size) {
    const int i = first + group.rank;
    group.barrier();  // the tree before this one is read
    scratch[group.rank] = i < size ? static_cast<Total<T>>(from[i]) : 0;
    Tree::add(group, scratch);
    if (group.rank == 0) sum += scratch[0];
  }
  return sum;
}

}  // namespace league::sum
