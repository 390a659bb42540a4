// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/sum/common/kokkos.hpp"

#include "algorithms/blocks/group_kokkos.hpp"
#include "algorithms/blocks/items_kokkos.hpp"
#include "algorithms/sum/ladder/kernel.hpp"

// The lower rungs of the ladder, from the first kernel that works to the one before `two_stage`.
namespace league::kokkos::sum {
namespace {

// A team is one thread, and takes one chunk after another, element by element.
template <class T>
void one_thread(const Pass& on, const Work<T>& work) {
  const Chunks chunks = work.chunks;
  const T* x = work.x;
  Total<T>* partials = work.sums;
  Kokkos::parallel_for(
      "sum/one_thread", on.policy(), KOKKOS_LAMBDA(const Member& team) {
        for (std::int64_t chunk = team.league_rank(); chunk < chunks.count; chunk += team.league_size()) {
          Total<T> sum = 0;
          for (int i = 0; i < chunks.size_of(chunk); ++i) sum += x[chunk * chunks.chunk + i];
          partials[chunk] = sum;
        }
      });
}

// A lane takes every lanes-th element, an atomic addition each.
template <class T>
void atomic_per_element(const Pass& on, const Work<T>& work) {
  const T* x = work.x;
  Total<T>* sum = work.sums;
  Kokkos::deep_copy(on.exec, Value<Total<T>>(sum), Total<T>{0});
  blocks::for_items(
      "sum/atomic_per_element", on.exec, on.launch, work.chunks.size,
      KOKKOS_LAMBDA(std::int64_t i) { Kokkos::atomic_add(sum, static_cast<Total<T>>(x[i])); });
}

// A team takes one chunk after another; a lane one element at a time, which a tree in team scratch adds.
template <class T, class Tree>
void tree(const Pass& on, const Work<T>& work) {
  const Chunks chunks = work.chunks;
  const T* x = work.x;
  Total<T>* partials = work.sums;
  const int lanes = on.launch.team * on.launch.vector;
  const std::size_t bytes = static_cast<std::size_t>(lanes) * sizeof(Total<T>);
  Kokkos::parallel_for(
      "sum/tree", on.policy().set_scratch_size(0, Kokkos::PerTeam(bytes)), KOKKOS_LAMBDA(const Member& team) {
        auto* scratch = static_cast<Total<T>*>(team.team_scratch(0).get_shmem(bytes));
        for (std::int64_t chunk = team.league_rank(); chunk < chunks.count; chunk += team.league_size()) {
          const auto group = blocks::team_group(team, lanes);
          const Total<T> total = tree_sum<Tree>(group, x + chunk * chunks.chunk, chunks.size_of(chunk), scratch);
          if (group.rank == 0) partials[chunk] = total;
        }
      });
}

// A team takes one chunk after another; a lane one element at a time, which a reduction over the team (on a GPU by
// shuffles) adds.
template <class T>
void shuffle(const Pass& on, const Work<T>& work) {
  const Chunks chunks = work.chunks;
  const T* x = work.x;
  Total<T>* partials = work.sums;
  const int lanes = on.launch.team * on.launch.vector;
  Kokkos::parallel_for(
      "sum/shuffle", on.policy(), KOKKOS_LAMBDA(const Member& team) {
        for (std::int64_t chunk = team.league_rank(); chunk < chunks.count; chunk += team.league_size()) {
          const T* from = x + chunk * chunks.chunk;
          const int size = chunks.size_of(chunk);
          Total<T> total = 0;
          for (int first = 0; first < size; first += lanes) {
            Total<T> of_lanes = 0;
            Kokkos::parallel_reduce(
                Kokkos::TeamVectorRange(team, lanes),
                [&](int lane, Total<T>& sum) {
                  sum += first + lane < size ? static_cast<Total<T>>(from[first + lane]) : 0;
                },
                of_lanes);
            total += of_lanes;
          }
          blocks::once_per_team(team, [&] { partials[chunk] = total; });
        }
      });
}

// A team takes one chunk after another; a lane adds every lanes-th element of it, then a reduction adds the lanes.
template <class T>
void several_per_thread(const Pass& on, const Work<T>& work) {
  const Chunks chunks = work.chunks;
  const T* x = work.x;
  Total<T>* partials = work.sums;
  const int lanes = on.launch.team * on.launch.vector;
  Kokkos::parallel_for(
      "sum/several_per_thread", on.policy(), KOKKOS_LAMBDA(const Member& team) {
        for (std::int64_t chunk = team.league_rank(); chunk < chunks.count; chunk += team.league_size()) {
          Total<T> total = 0;
          Kokkos::parallel_reduce(
              Kokkos::TeamVectorRange(team, lanes),
              [&](int lane, Total<T>& mine) {
                for (int i = lane; i < chunks.size_of(chunk); i += lanes) mine += x[chunk * chunks.chunk + i];
              },
              total);
          blocks::once_per_team(team, [&] { partials[chunk] = total; });
        }
      });
}

Launch configure(Queue& queue, Launch launch, Chunks chunks) {
  launch = resolve(launch, on_gpu ? Launch{0, 256, 1} : Launch{0, 1, 1}, blocks::naive_limits(queue));
  if (launch.league == 0) launch.league = league_of(chunks.count);
  return launch;
}

/// @throws Unsupported unless a team is one thread
Launch configure_alone(Queue&, Launch launch, Chunks) {
  return resolve(launch, {1, 1, 1}, {1, 1, "a sum by one thread"});
}

/// A first stage that adds in double (integers: in 64 bits) all the way.
template <class T>
Kernels<Pass, T> rung(Partials kind, void (*accumulate)(const Pass&, const Work<T>&),
                      Launch (*launch)(Queue&, Launch, Chunks) = configure) {
  return {kind, launch, accumulate, finish<T>, Sum::any_order};
}

const RegisterSum variants[] = {
    {"one_thread", model, []<class T>(Of<T>) { return rung<T>(Partials::a_chunk, one_thread<T>, configure_alone); }},
    {"atomic_per_element", model, []<class T>(Of<T>) { return rung<T>(Partials::a_shard, atomic_per_element<T>); }},
    {"tree_divergent", model, []<class T>(Of<T>) { return rung<T>(Partials::a_chunk, tree<T, DivergentTree>); }},
    {"tree_sequential", model, []<class T>(Of<T>) { return rung<T>(Partials::a_chunk, tree<T, SequentialTree>); }},
    {"shuffle", model, []<class T>(Of<T>) { return rung<T>(Partials::a_chunk, shuffle<T>); }},
    {"several_per_thread", model, []<class T>(Of<T>) { return rung<T>(Partials::a_chunk, several_per_thread<T>); }}};

}  // namespace
}  // namespace league::kokkos::sum
