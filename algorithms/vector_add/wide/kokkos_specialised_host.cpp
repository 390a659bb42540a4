// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/words_native.hpp"
#include "algorithms/drivers/one_pass.hpp"
#include "algorithms/vector_add/vector_add.hpp"
#include "algorithms/vector_add/wide/lines.hpp"
#include "backends/kokkos/pass.hpp"

// On a host, with the native kernel's non-temporal stores of what exceeds the last-level cache.
namespace league::kokkos::vector_add {
namespace {

// A thread of a team takes `tile` elements at a time, cache line by cache line.
template <class T, class Words>
void add_tiles(const Pass& on, Vector<const T> a, Vector<const T> b, Vector<T> sum) {
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

template <class T>
void add(const Pass& on, Vector<const T> a, Vector<const T> b, Vector<T> sum) {
  add_tiles<T, blocks::PlainWords>(on, a, b, sum);
}

template <class T>
void add_streaming(const Pass& on, Vector<const T> a, Vector<const T> b, Vector<T> sum) {
  if (on.beyond_cache(3 * on.size() * std::int64_t{sizeof(T)}))
    add_tiles<T, blocks::NativeWords>(on, a, b, sum);
  else
    add<T>(on, a, b, sum);
}

const OneVectorPass wide{
    "wide", several_bodies(specialised_model, true), {"a", "b", "sum"}, []<class T>(Of<T>, const VectorAdd& problem) {
      return kernel("add", problem.streaming_stores ? add_streaming<T> : add<T>, {.per_team = 1 << 16});
    }};

}  // namespace
}  // namespace league::kokkos::vector_add
