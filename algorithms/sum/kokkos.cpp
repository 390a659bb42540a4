// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/sum/kokkos_shard.hpp"
#include "algorithms/sum/transfers.hpp"

// On a host both copies of a transfer are within host memory: this only tests the orderings.
namespace league::kokkos::sum {
namespace {

/// Chunks per team at a time: on a host enough to amortise its start.
int run_of(Chunks chunks) {
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
template <class T>
void two_stage(const Pass& on, const Work<T>& work) {
  const Chunks chunks = work.chunks;
  const T* x = work.x;
  Total<T>* partials = work.sums;
  const int run = run_of(chunks), lanes = on.launch.team * on.launch.vector;
  Kokkos::parallel_for(
      "sum/two_stage", on.policy(), KOKKOS_LAMBDA(const Member& team) {
        for_chunks(team, run, chunks, [&](std::int64_t chunk) {
          const T* from = x + chunk * chunks.chunk;
          const int size = chunks.size_of(chunk);
          Total<T> total = 0;
          Kokkos::parallel_reduce(
              Kokkos::TeamVectorRange(team, lanes),
              [&](int lane, Total<T>& sum) { sum += sum_of_lane(from, size, lane, lanes); }, total);
          Kokkos::single(Kokkos::PerTeam(team), [&] { partials[chunk] = total; });
        });
      });
}

// A team takes one chunk after another; a lane every lanes-th pack of it.
template <class T>
void atomic(const Pass& on, const Work<T>& work) {
  const Chunks chunks = work.chunks;
  const T* x = work.x;
  Total<T>* sum = work.sums;
  const int run = run_of(chunks), lanes = on.launch.team * on.launch.vector;
  Kokkos::deep_copy(on.exec, Value<Total<T>>(sum), Total<T>{0});
  Kokkos::parallel_for(
      "sum/atomic", on.policy(), KOKKOS_LAMBDA(const Member& team) {
        Total<T> total = 0;
        Kokkos::parallel_reduce(
            Kokkos::TeamVectorRange(team, lanes),
            [&](int lane, Total<T>& mine) {
              for_chunks(team, run, chunks, [&](std::int64_t chunk) {
                mine += sum_of_lane(x + chunk * chunks.chunk, chunks.size_of(chunk), lane, lanes);
              });
            },
            total);
        Kokkos::single(Kokkos::PerTeam(team), [&] { Kokkos::atomic_add(sum, total); });
      });
}

// Kokkos chooses the mapping; an iteration is one element.
template <class T>
void range_reduce(const Pass& on, const Work<T>& work) {
  using Range = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  const T* x = work.x;
  Kokkos::parallel_reduce(
      "sum/range_reduce", Range(on.exec, 0, work.chunks.size),
      KOKKOS_LAMBDA(std::int64_t i, Total<T>& mine) { mine += x[i]; }, Value<Total<T>>(work.sums));
}

Launch configure(Queue& queue, Launch launch, Chunks chunks) {
  launch = resolve(launch, on_gpu ? Launch{0, 256, 1} : Launch{0, 1, 1}, limits(queue));
  if (launch.league == 0) launch.league = league_of(ceil_div<std::int64_t>(chunks.count, run_of(chunks)));
  return launch;
}

Launch refuse(Queue&, Launch launch, Chunks) {
  if (launch != Launch{}) throw Unsupported("Kokkos chooses the launch of a RangePolicy");
  return {};
}

constexpr auto chunk_kernels = []<class T>(Of<T>) {
  return Kernels<Pass, T>{Partials::a_chunk, configure, two_stage<T>, finish<T>};
};
constexpr auto atomic_kernels = []<class T>(Of<T>) {
  return Kernels<Pass, T>{Partials::a_shard, configure, atomic<T>, finish<T>};
};
constexpr auto range_kernels = []<class T>(Of<T>) {
  return Kernels<Pass, T>{Partials::a_shard, refuse, range_reduce<T>, finish<T>, Sum::any_order};
};

const RegisterSum two_stage_variant{"two_stage", model, chunk_kernels};
const RegisterSum atomic_variant{"atomic", model, atomic_kernels};
const RegisterSum range_reduce_variant{"range_reduce", model, range_kernels};
const RegisterTransfers transfers{model, chunk_kernels};

}  // namespace
}  // namespace league::kokkos::sum
