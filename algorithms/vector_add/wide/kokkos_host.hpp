// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/vector_add/common/packs.hpp"
#include "backends/kokkos/pass.hpp"

namespace league::kokkos::vector_add {

// On a host a team takes `tile` elements at a time, cache line by cache line.
template <class T, class Words>
void add_cache_lines(const Pass& on, Vector<const T> a, Vector<const T> b, Vector<T> sum) {
  const std::int64_t n = on.size(), tile = on.launch.tile;
  Kokkos::parallel_for(
      "vector_add/wide", on.policy(), KOKKOS_LAMBDA(const Member& team) {
        const std::int64_t step = tile * team.league_size() * team.team_size();
        const std::int64_t mine = (std::int64_t{team.league_rank()} * team.team_size() + team.team_rank()) * tile;
        for (std::int64_t first = mine; first < n; first += step)
          add_lines<Words>(first, first + tile < n ? first + tile : n, a.data(), b.data(), sum.data());
        Words::finish_streaming();
      });
}

}  // namespace league::kokkos::vector_add
