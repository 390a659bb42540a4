// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/vector_add/common/kokkos.hpp"

namespace league::kokkos::vector_add {
namespace {

// A GPU's team takes an element per lane at a time, a host's as many as amortise its start.
constexpr blocks::Numbers numbers = blocks::by_kind({.team = 256}, {.tile = 4096, .team = 1});

// A team takes `tile` consecutive elements at a time, a lane one.
template <class T>
void add(const Pass& on, Vector<const T> a, Vector<const T> b, Vector<T> sum) {
  const std::int64_t n = on.size();
  const int tile = on.launch.tile;
  Kokkos::parallel_for(
      "vector_add/plain", on.policy(), KOKKOS_LAMBDA(const Member& team) {
        for (std::int64_t first = std::int64_t{team.league_rank()} * tile; first < n;
             first += std::int64_t{team.league_size()} * tile)
          for_next(team, first, n, tile, [&](std::int64_t i) { sum(i) = a(i) + b(i); });
      });
}

const OneVectorPass plain = once(
    "plain", {"a", "b", "sum"}, []<class T>(Of<T>) { return numbers; },
    []<class T>(Of<T>) { return kernel("add", add<T>, blocks::share_of(numbers)); });

}  // namespace
}  // namespace league::kokkos::vector_add
