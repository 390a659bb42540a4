// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/vector_add/common/kokkos.hpp"

#include "algorithms/blocks/packs_kokkos.hpp"

namespace league::kokkos::vector_add {
namespace {

// A pack is one access of a GPU's lane, a cache line of a host.
template <class T>
constexpr blocks::Numbers numbers = blocks::by_kind({.width = 16 / int{sizeof(T)}, .team = 256},
                                                    {.tile = 1 << 16, .width = 64 / int{sizeof(T)}, .team = 1});

// A team takes `tile` consecutive elements at a time as packs, a lane one pack; team 0 adds the elements after the last
// whole pack.
template <class T>
void add(const Pass& on, Vector<const T> a, Vector<const T> b, Vector<T> sum) {
  constexpr int width = numbers<T>.width;
  const std::int64_t n = on.size();
  const int tile = on.launch.tile / width;
  const auto packs_a = blocks::packs<width>(a), packs_b = blocks::packs<width>(b);
  const auto packs_sum = blocks::packs<width>(sum);
  Kokkos::parallel_for(
      "vector_add/wide", on.policy(), KOKKOS_LAMBDA(const Member& team) {
        const std::int64_t packs = n / width;
        for (std::int64_t first = std::int64_t{team.league_rank()} * tile; first < packs;
             first += std::int64_t{team.league_size()} * tile)
          for_next(team, first, packs, tile, [&](std::int64_t i) {
            const blocks::LoadedPack<T, width> x = packs_a(i), y = packs_b(i);
            packs_sum(i) = x + y;
          });
        if (team.league_rank() == 0)
          for_next(team, packs * width, n, width, [&](std::int64_t i) { sum(i) = a(i) + b(i); });
      });
}

const OneVectorPass wide = once(
    "wide", {"a", "b", "sum"}, []<class T>(Of<T>) { return numbers<T>; },
    []<class T>(Of<T>) { return kernel("add", add<T>, blocks::share_of(numbers<T>)); });

}  // namespace
}  // namespace league::kokkos::vector_add
