// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/drivers/one_pass.hpp"
#include "algorithms/vector_add/vector_add.hpp"
#include "algorithms/vector_add/wide/kokkos_host.hpp"

namespace league::kokkos::vector_add {
namespace {

/// `body(i)` for i from `first` on, before `end`, at most `count`, by the lanes of a team. Counted in 32 bits: the
/// compiler unrolls a range by the number of its iterations, which for 64-bit indices takes a division of 0.3 us.
template <class Body>
KOKKOS_INLINE_FUNCTION void for_next(const Member& team, std::int64_t first, std::int64_t end, int count,
                                     const Body& body) {
  const std::int64_t left = end - first;
  Kokkos::parallel_for(Kokkos::TeamVectorRange(team, left < count ? static_cast<int>(left) : count),
                       [&](int i) { body(first + i); });
}

// A team takes `tile` consecutive elements at a time, each lane of its threads one.
template <class T>
void add_plain(const Pass& on, Vector<const T> a, Vector<const T> b, Vector<T> sum) {
  const std::int64_t n = on.size();
  const int tile = on.launch.tile;
  Kokkos::parallel_for(
      "vector_add/plain", on.policy(), KOKKOS_LAMBDA(const Member& team) {
        for (std::int64_t first = std::int64_t{team.league_rank()} * tile; first < n;
             first += std::int64_t{team.league_size()} * tile)
          for_next(team, first, n, tile, [&](std::int64_t i) { sum(i) = a(i) + b(i); });
      });
}

// As `add_plain`, with packs of 16 bytes; team 0 adds the elements after the last whole pack.
template <class T>
void add_packs(const Pass& on, Vector<const T> a, Vector<const T> b, Vector<T> sum) {
  const std::int64_t n = on.size();
  const auto* packs_a = reinterpret_cast<const Pack<T>*>(a.data());
  const auto* packs_b = reinterpret_cast<const Pack<T>*>(b.data());
  auto* packs_sum = reinterpret_cast<Pack<T>*>(sum.data());
  const int lanes = on.launch.tile / Pack<T>::size;
  Kokkos::parallel_for(
      "vector_add/wide", on.policy(), KOKKOS_LAMBDA(const Member& team) {
        const std::int64_t packs = n / Pack<T>::size;
        for (std::int64_t first = std::int64_t{team.league_rank()} * lanes; first < packs;
             first += std::int64_t{team.league_size()} * lanes)
          for_next(team, first, packs, lanes, [&](std::int64_t i) {
            const Pack<T> x = packs_a[i], y = packs_b[i];  // by single loads
            packs_sum[i] = x + y;
          });
        if (team.league_rank() == 0)
          for_next(team, packs * Pack<T>::size, n, lanes, [&](std::int64_t i) { sum(i) = a(i) + b(i); });
      });
}

template <class T>
void add_wide(const Pass& on, Vector<const T> a, Vector<const T> b, Vector<T> sum) {
  if constexpr (on_gpu)
    add_packs<T>(on, a, b, sum);
  else
    add_cache_lines<T, blocks::PlainWords>(on, a, b, sum);
}

// On a GPU a team stores `tile` elements at a time as packs, a lane every lanes-th of them.
template <class T>
void fill_packs(const Pass& on, Vector<T> index) {
  const std::int64_t n = on.size(), begin = on.rows.begin;
  auto* packs_index = reinterpret_cast<Pack<T>*>(index.data());
  const int lanes = on.launch.tile / elements_per_lane<T>;
  Kokkos::parallel_for(
      "vector_add/fill", on.policy(), KOKKOS_LAMBDA(const Member& team) {
        const std::int64_t packs = n / Pack<T>::size, block = std::int64_t{lanes} * packs_per_lane;
        for (std::int64_t first = team.league_rank() * block; first < packs; first += team.league_size() * block)
          Kokkos::parallel_for(Kokkos::TeamVectorRange(team, lanes), [&](int lane) {
            for (int k = 0; k < packs_per_lane; ++k)
              if (const std::int64_t i = first + lane + k * lanes; i < packs) packs_index[i] = indices<T>(begin, i);
          });
        if (team.league_rank() == 0)
          for_next(team, packs * Pack<T>::size, n, lanes,
                   [&](std::int64_t i) { index(i) = static_cast<T>(begin + i); });
      });
}

template <class T>
void fill_elements(const Pass& on, Vector<T> index) {
  const std::int64_t n = on.size(), begin = on.rows.begin;
  const int tile = on.launch.tile;
  Kokkos::parallel_for(
      "vector_add/fill", on.policy(), KOKKOS_LAMBDA(const Member& team) {
        for (std::int64_t first = std::int64_t{team.league_rank()} * tile; first < n;
             first += std::int64_t{team.league_size()} * tile)
          for_next(team, first, n, tile, [&](std::int64_t i) { index(i) = static_cast<T>(begin + i); });
      });
}

template <class T>
void fill(const Pass& on, Vector<T> index) {
  if constexpr (on_gpu)
    fill_packs<T>(on, index);
  else
    fill_elements<T>(on, index);
}

const OneVectorPass plain{
    "plain", model, {"a", "b", "sum"}, []<class T>(Of<T>) { return kernel("add", add_plain<T>); }};
const OneVectorPass wide{"wide", model, {"a", "b", "sum"}, []<class T>(Of<T>) {
                           return kernel("add", add_wide<T>,
                                         {.per_lane = on_gpu ? Pack<T>::size : elements_per_lane<T>});
                         }};
const OneVectorPass filled{"fill", model, {"index"}, []<class T>(Of<T>) {
                             return kernel("fill", fill<T>, {.per_lane = on_gpu ? elements_per_lane<T> : 1});
                           }};

}  // namespace
}  // namespace league::kokkos::vector_add
