// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/vector_add/common/kokkos.hpp"

#include "algorithms/blocks/packs_kokkos.hpp"
#include "algorithms/vector_add/common/packs.hpp"

namespace league::kokkos::vector_add {
namespace {

// A GPU's lane has four stores in flight; a host's thread stores cache line after cache line.
template <class T>
constexpr blocks::Numbers numbers =
    blocks::by_kind({.width = 16 / int{sizeof(T)}, .depth = 4, .team = 256},
                    {.tile = 4096, .width = 64 / int{sizeof(T)}, .depth = 1, .team = 1});

// A team stores `tile` elements at a time as packs, a lane every lanes-th of them, `depth` in all; team 0 stores the
// elements after the last whole pack.
template <class T>
void fill(const Pass& on, Vector<T> index) {
  constexpr int width = numbers<T>.width, depth = numbers<T>.depth;
  const std::int64_t n = on.size(), begin = on.rows.begin;
  const int lanes = on.launch.tile / (width * depth);
  const auto packs_index = blocks::packs<width>(index);
  Kokkos::parallel_for(
      "vector_add/fill", on.policy(), KOKKOS_LAMBDA(const Member& team) {
        const std::int64_t packs = n / width, tile = std::int64_t{lanes} * depth;
        for (std::int64_t first = team.league_rank() * tile; first < packs; first += team.league_size() * tile)
          Kokkos::parallel_for(Kokkos::TeamVectorRange(team, lanes), [&](int lane) {
            for (int k = 0; k < depth; ++k)
              if (const std::int64_t i = first + lane + k * lanes; i < packs)
                packs_index(i) = indices<T, width>(begin, i);
          });
        if (team.league_rank() == 0)
          for_next(team, packs * width, n, width, [&](std::int64_t i) { index(i) = static_cast<T>(begin + i); });
      });
}

const OneVectorPass filled = once(
    "fill", {"index"}, []<class T>(Of<T>) { return numbers<T>; },
    []<class T>(Of<T>) { return kernel("fill", fill<T>, blocks::share_of(numbers<T>)); });

}  // namespace
}  // namespace league::kokkos::vector_add
