// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/group_kokkos.hpp"
#include "algorithms/sum/common/shards.hpp"
#include "backends/kokkos/pass.hpp"

/// Sums in Kokkos over an `Adder`, which adds over a team: TeamSum, or NativeSum of kokkos_specialised.cpp.
namespace league::kokkos::sum {

using namespace league::sum;

template <class V>
using Value = Kokkos::View<V, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// A lane's share of `size` elements.
template <class T>
KOKKOS_INLINE_FUNCTION Total<T> sum_of_lane(const T* from, int size, int lane, int lanes) {
  if constexpr (on_gpu)
    return lane_sum(from, size, lane, lanes);
  else
    return host_lane_sum(from, size, lane, lanes);
}

/// Adds over a team in Kokkos' own API.
struct TeamSum {
  static void require(int /*lanes*/) {}
  /// Bytes of scratch memory of a team.
  static std::size_t scratch_bytes(int /*lanes*/) { return 0; }
  /// A function that gives the sum of `share(lane)`. @pre all threads call it
  template <class V>
  KOKKOS_INLINE_FUNCTION static auto over(const Member& team, int lanes) {
    return [&team, lanes](const auto& share) {
      V total = 0;
      Kokkos::parallel_reduce(
          Kokkos::TeamVectorRange(team, lanes), [&](int lane, V& mine) { mine += share(lane); }, total);
      return total;
    };
  }
};

/// Chunks per team at a time: on a host enough to amortise its start.
inline int run_of(Chunks chunks) {
  constexpr int worth_a_start = 1 << 15;  // elements
  return on_gpu ? 1 : ceil_div(worth_a_start, chunks.chunk);
}

/// Calls `body(chunk)` for all chunks of a team, `run` at a time.
template <class Body>
KOKKOS_INLINE_FUNCTION void for_chunks(const Member& team, int run, Chunks chunks, const Body& body) {
  for (std::int64_t first = std::int64_t{team.league_rank()} * run; first < chunks.count;
       first += std::int64_t{team.league_size()} * run)
    for (std::int64_t chunk = first; chunk < first + run && chunk < chunks.count; ++chunk) body(chunk);
}

// A team takes one chunk after another; a lane every lanes-th pack of it.
template <class T, class Adder>
void two_stage(const Pass& on, const Work<T>& work) {
  const Chunks chunks = work.chunks;
  const T* x = work.x;
  Total<T>* partials = work.sums;
  const int run = run_of(chunks), lanes = on.launch.team * on.launch.vector;
  Kokkos::parallel_for(
      "sum/two_stage", on.policy().set_scratch_size(0, Kokkos::PerTeam(Adder::scratch_bytes(lanes))),
      KOKKOS_LAMBDA(const Member& team) {
        const auto sum = Adder::template over<Total<T>>(team, lanes);
        for_chunks(team, run, chunks, [&](std::int64_t chunk) {
          const T* from = x + chunk * chunks.chunk;
          const int size = chunks.size_of(chunk);
          const Total<T> total = sum([&](int lane) { return sum_of_lane(from, size, lane, lanes); });
          blocks::once_per_team(team, [&] { partials[chunk] = total; });
        });
      });
}

// A team takes one chunk after another; a lane every lanes-th pack of it.
template <class T, class Adder>
void atomic(const Pass& on, const Work<T>& work) {
  const Chunks chunks = work.chunks;
  const T* x = work.x;
  Total<T>* sum = work.sums;
  const int run = run_of(chunks), lanes = on.launch.team * on.launch.vector;
  Kokkos::deep_copy(on.exec, Value<Total<T>>(sum), Total<T>{0});
  Kokkos::parallel_for(
      "sum/atomic", on.policy().set_scratch_size(0, Kokkos::PerTeam(Adder::scratch_bytes(lanes))),
      KOKKOS_LAMBDA(const Member& team) {
        const Total<T> total = Adder::template over<Total<T>>(team, lanes)([&](int lane) {
          Total<T> mine = 0;
          for_chunks(team, run, chunks, [&](std::int64_t chunk) {
            mine += sum_of_lane(x + chunk * chunks.chunk, chunks.size_of(chunk), lane, lanes);
          });
          return mine;
        });
        blocks::once_per_team(team, [&] { Kokkos::atomic_add(sum, total); });
      });
}

// One team takes all partial sums.
template <class T, class Adder = TeamSum>
void finish(const Pass& on, int count, const Total<T>* partials, Total<T>* sum, const Work<T>&) {
  using V = Total<T>;
  const int team_size = on_gpu ? finish_team(count) : 1;
  Kokkos::parallel_for(
      "sum/finish",
      Team(on.exec, 1, team_size, 1).set_scratch_size(0, Kokkos::PerTeam(Adder::scratch_bytes(team_size))),
      KOKKOS_LAMBDA(const Member& team) {
        const int lanes =
            team.team_size();  // a run-time value: with a constant the compiler unrolls, with fewer loads in flight
        const V total =
            Adder::template over<V>(team, lanes)([&](int lane) { return sum_of_lane(partials, count, lane, lanes); });
        blocks::once_per_team(team, [&] { *sum = total; });
      });
}

template <class Adder>
Launch configure(Queue& queue, Launch launch, Chunks chunks) {
  launch = resolve(launch, on_gpu ? Launch{0, 256, 1} : Launch{0, 1, 1}, limits(queue));
  Adder::require(launch.team * launch.vector);
  if (launch.league == 0) launch.league = league_of(ceil_div<std::int64_t>(chunks.count, run_of(chunks)));
  return launch;
}

template <class Adder>
constexpr auto chunk_kernels = []<class T>(Of<T>) {
  return Kernels<Pass, T>{Partials::a_chunk, configure<Adder>, two_stage<T, Adder>, finish<T, Adder>};
};
template <class Adder>
constexpr auto atomic_kernels = []<class T>(Of<T>) {
  return Kernels<Pass, T>{Partials::a_shard, configure<Adder>, atomic<T, Adder>, finish<T, Adder>};
};

}  // namespace league::kokkos::sum
