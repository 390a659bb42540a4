// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/sums_native_kokkos.hpp"
#include "algorithms/sum/common/kokkos.hpp"

namespace league::kokkos::sum {
namespace {

/// Adds over a team by the native shuffles and barrier.
struct NativeSum {
  static void require(int lanes) { blocks::require_whole_subgroups(lanes, blocks::NativeLanes::size); }
  static std::size_t scratch_bytes(int lanes) {
    return ceil_div<std::size_t>(lanes, blocks::NativeLanes::size) * sizeof(double);
  }
  template <class V>
  KOKKOS_INLINE_FUNCTION static auto over(const Member& team, int lanes) {
    const auto group = blocks::native_group(team, lanes);
    auto* scratch = static_cast<V*>(team.team_scratch(0).get_shmem(lanes / blocks::NativeLanes::size * sizeof(V)));
    return [group, scratch](const auto& share) { return blocks::native_team_sum(group, share(group.rank), scratch); };
  }
};

const RegisterSum two_stage_variant{"two_stage", specialised_model, chunk_kernels<NativeSum>};
const RegisterSum atomic_variant{"atomic", specialised_model, atomic_kernels<NativeSum>};

}  // namespace
}  // namespace league::kokkos::sum
