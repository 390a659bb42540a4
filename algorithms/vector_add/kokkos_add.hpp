// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/vector_add/wide.hpp"
#include "backends/kokkos/kokkos.hpp"

namespace league::kokkos::vector_add {

// A team takes `tile` consecutive elements at a time, each lane of its threads one.
template <class T>
void add_plain(const Exec& exec, Launch launch, Vector<const T> a, Vector<const T> b, Vector<T> sum) {
  const auto n = static_cast<std::int64_t>(sum.extent(0));
  Kokkos::parallel_for(
      "vector_add/plain", Team(exec, launch.league, launch.team, launch.vector), KOKKOS_LAMBDA(const Member& team) {
        const std::int64_t tile = launch.tile;
        for (std::int64_t first = team.league_rank() * tile; first < n; first += team.league_size() * tile)
          Kokkos::parallel_for(Kokkos::TeamVectorRange(team, first, first + tile < n ? first + tile : n),
                               [&](std::int64_t i) { sum(i) = a(i) + b(i); });
      });
}

template <class T>
void fill_index(const Exec& exec, Launch launch, std::int64_t begin, Vector<T> index) {
  const auto n = static_cast<std::int64_t>(index.extent(0));
  Kokkos::parallel_for(
      "vector_add/fill", Team(exec, launch.league, launch.team, launch.vector), KOKKOS_LAMBDA(const Member& team) {
        const std::int64_t tile = launch.tile;
        for (std::int64_t first = team.league_rank() * tile; first < n; first += team.league_size() * tile)
          Kokkos::parallel_for(Kokkos::TeamVectorRange(team, first, first + tile < n ? first + tile : n),
                               [&](std::int64_t i) { index(i) = static_cast<T>(begin + i); });
      });
}

// A team takes `tile` elements at a time as packs of 16 bytes, a lane every lanes-th of them, all loads first.
template <class T>
void add_wide(const Exec& exec, Launch launch, Vector<const T> a, Vector<const T> b, Vector<T> sum) {
  const auto n = static_cast<std::int64_t>(sum.extent(0));
  const auto* packs_a = reinterpret_cast<const Pack<T>*>(a.data());
  const auto* packs_b = reinterpret_cast<const Pack<T>*>(b.data());
  auto* packs_sum = reinterpret_cast<Pack<T>*>(sum.data());
  const int lanes = launch.tile / (packs_a_lane * Pack<T>::size);
  Kokkos::parallel_for(
      "vector_add/wide", Team(exec, launch.league, launch.team, launch.vector), KOKKOS_LAMBDA(const Member& team) {
        const std::int64_t packs = n / Pack<T>::size, block = std::int64_t{lanes} * packs_a_lane;
        for (std::int64_t first = team.league_rank() * block; first < packs; first += team.league_size() * block) {
          if (first + block <= packs) {
            Kokkos::parallel_for(Kokkos::TeamVectorRange(team, lanes), [&](int lane) {
              const std::int64_t mine = first + lane;
              Pack<T> x[packs_a_lane], y[packs_a_lane];
              for (int k = 0; k < packs_a_lane; ++k) x[k] = packs_a[mine + k * lanes], y[k] = packs_b[mine + k * lanes];
              for (int k = 0; k < packs_a_lane; ++k) packs_sum[mine + k * lanes] = x[k] + y[k];
            });
          } else {
            Kokkos::parallel_for(Kokkos::TeamVectorRange(team, first, packs),
                                 [&](std::int64_t i) { packs_sum[i] = packs_a[i] + packs_b[i]; });
          }
        }
        if (team.league_rank() == 0)
          Kokkos::parallel_for(Kokkos::TeamVectorRange(team, packs * Pack<T>::size, n),
                               [&](std::int64_t i) { sum(i) = a(i) + b(i); });
      });
}

// On a host a team takes `tile` elements at a time, cache line by cache line.
template <class T>
void add_wide_on_host(const Exec& exec, Launch launch, Vector<const T> a, Vector<const T> b, Vector<T> sum) {
  const auto n = static_cast<std::int64_t>(sum.extent(0));
  Kokkos::parallel_for(
      "vector_add/wide", Team(exec, launch.league, launch.team, launch.vector), KOKKOS_LAMBDA(const Member& team) {
        const std::int64_t tile = launch.tile, step = tile * team.league_size() * team.team_size();
        const std::int64_t mine = (std::int64_t{team.league_rank()} * team.team_size() + team.team_rank()) * tile;
        for (std::int64_t first = mine; first < n; first += step)
          add_lines(first, first + tile < n ? first + tile : n, a.data(), b.data(), sum.data());
        blocks::finish_streaming();
      });
}

enum class Kernel { plain, wide, fill };

/// The method's choice where the launch leaves it open; `tile` is what a team takes at a time. On a host a lane is a
/// step of a thread's loop, and a team takes a block that is worth its start.
template <class T, Kernel kernel>
Launch configure(Launch launch, const Queue& queue, std::int64_t n) {
  constexpr int per_lane = kernel == Kernel::wide ? packs_a_lane * Pack<T>::size : 1;
  launch = resolve(launch, on_gpu ? Launch{0, 256, 1} : Launch{0, 1, 1}, limits(queue));
  launch.tile = per_lane * (on_gpu ? launch.team * launch.vector : 4096);
  if (launch.league == 0) launch.league = league_of(ceil_div<std::int64_t>(n, launch.tile));
  return launch;
}

template <class T, Kernel kernel>
void add(const Exec& exec, Launch launch, Vector<const T> a, Vector<const T> b, Vector<T> sum) {
  if constexpr (kernel == Kernel::plain) add_plain<T>(exec, launch, a, b, sum);
  if constexpr (kernel == Kernel::wide && on_gpu) add_wide<T>(exec, launch, a, b, sum);
  if constexpr (kernel == Kernel::wide && !on_gpu) add_wide_on_host<T>(exec, launch, a, b, sum);
}

}  // namespace league::kokkos::vector_add
