// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstdint>

#include "algorithms/blocks/atomics_native_kokkos.hpp"
#include "algorithms/blocks/group_native_kokkos.hpp"
#include "algorithms/blocks/pieces.hpp"

namespace league::blocks {

// A team takes 16 rows, its subgroups the steps of the depth in turn, a lane its part of a piece. nvcc would unroll the
// loop over these for a size of the team that it knows, which takes four times the registers.
/// Packs all rows of the pieces.
template <class Unit, mma::Operand operand, class Rows>
void pack_all(const kokkos::Exec& exec, const Rows& rows, const mma::Pieces<Unit, operand>& pieces,
              typename Unit::Word* packed) {
  using Sum = typename Rows::Sum;
  constexpr int threads = Unit::lanes == 1 ? 1 : 128, totals_bytes = mma::side * Rows::sums * sizeof(Sum);
  using Policy = Kokkos::TeamPolicy<kokkos::Exec, Kokkos::IndexType<std::int64_t>,
                                    Kokkos::LaunchBounds<threads, kokkos::launch_bound(8)>>;
  const std::int64_t groups = pieces.rows / mma::side;
  Policy policy(exec, league_of(std::min<std::int64_t>(groups, 1 << 20)), threads, 1);
  policy.set_scratch_size(0, Kokkos::PerTeam(totals_bytes + 16));
  Kokkos::parallel_for(
      "blocks/pack", policy, KOKKOS_LAMBDA(const typename Policy::member_type& team) {
        auto* totals = kokkos::aligned_scratch<Sum>(team, static_cast<std::size_t>(totals_bytes));
        const auto group = native_group(team, threads);
        const auto add = [](Sum* to, Sum value) {
          if constexpr (Unit::lanes == 1)
            *to += value;
          else
            NativeAtomics::add(to, value);
        };
        const auto peak = [](std::int32_t* to, std::int32_t value) { NativeAtomics::max(to, value); };
        for (std::int64_t number = team.league_rank(); number < groups; number += team.league_size())
          pack_rows<Unit>(group, rows, pieces, number * mma::side, totals, packed, add, peak);
      });
}

}  // namespace league::blocks
