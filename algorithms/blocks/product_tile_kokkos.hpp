// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include "algorithms/blocks/group_kokkos.hpp"
#include "algorithms/blocks/product_tile.hpp"
#include "backends/kokkos/kokkos.hpp"

namespace league::blocks {

// A team takes 64 rows at a time.
/// Packs data [n x features] as `panels`, and the squared norm of each row, added in double; NaN for rows of the
/// padding. @pre a GPU
template <class Element, class T, class Sum>
void pack(const kokkos::Exec& exec, const T* data, std::int64_t n, std::int64_t features,
          typename Element::Packed* packed, Sum* norms) {
  const Panels panels(n, features);
  const auto columns = static_cast<int>(features);
  constexpr int threads = PackTeam::threads, scratch_bytes = threads * static_cast<int>(sizeof(double));
  kokkos::Team policy(exec, league_of(panels.rows / PackTeam::rows), threads, 1);
  policy.set_scratch_size(0, Kokkos::PerTeam(scratch_bytes + 16));
  Kokkos::parallel_for(
      "blocks/pack", policy, KOKKOS_LAMBDA(const kokkos::Member& team) {
        auto* partial = kokkos::aligned_scratch<double>(team, static_cast<std::size_t>(scratch_bytes));
        const std::int64_t stride = std::int64_t{team.league_size()} * PackTeam::rows;
        for (std::int64_t first = std::int64_t{team.league_rank()} * PackTeam::rows; first < panels.rows;
             first += stride)
          pack_panel_rows<Element>(threads_of<threads>(team), data, n, columns, panels, first, packed, norms, partial);
      });
}

}  // namespace league::blocks
