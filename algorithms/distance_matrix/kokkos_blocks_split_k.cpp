// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/group_native_kokkos.hpp"
#include "algorithms/distance_matrix/kokkos_split_k.hpp"

namespace league::distance_matrix {
namespace {

/// The threads of a team as a group, with the native barrier.
struct NativeThreads {
  KOKKOS_INLINE_FUNCTION static auto of(const kokkos::Member& team, int threads) {
    return blocks::native_group(team, threads);
  }
};

template <class T>
using NativeSplitK = kokkos_model::SplitK<NativeThreads, T>;
const RegisterSplit<DistanceMatrix> variant{"split_k", kokkos::blocks_model, by_type<NativeSplitK>};

}  // namespace
}  // namespace league::distance_matrix
