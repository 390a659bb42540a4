// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/sum/common/kokkos.hpp"

#include "algorithms/blocks/items_kokkos.hpp"

// The lower rungs of the ladder, from the first kernel that works to the one before `two_stage`.
namespace league::kokkos::sum {
namespace {

template <class T>
Vector<const T> values_of(const Work<T>& work) {
  return Vector<const T>(work.x, static_cast<std::size_t>(work.chunks.size));
}
template <class T>
Vector<Total<T>> partials_of(const Work<T>& work) {
  return Vector<Total<T>>(work.sums, static_cast<std::size_t>(work.chunks.count));
}

// A team is one thread, and takes one chunk after another, element by element.
template <class T>
void one_thread(const Pass& on, const Work<T>& work) {
  const Chunks chunks = work.chunks;
  const Vector<const T> x = values_of(work);
  const Vector<Total<T>> partials = partials_of(work);
  Kokkos::parallel_for(
      "sum/one_thread", on.policy(), KOKKOS_LAMBDA(const Member& team) {
        for (std::int64_t chunk = team.league_rank(); chunk < chunks.count; chunk += team.league_size()) {
          Total<T> sum = 0;
          for (int i = 0; i < chunks.size_of(chunk); ++i) sum += x(chunk * chunks.chunk + i);
          partials(chunk) = sum;
        }
      });
}

// A lane takes every lanes-th element, an atomic addition each.
template <class T>
void atomic_per_element(const Pass& on, const Work<T>& work) {
  const Vector<const T> x = values_of(work);
  const Value<Total<T>> sum(work.sums);
  Kokkos::deep_copy(on.exec, sum, Total<T>{0});
  blocks::for_items(
      "sum/atomic_per_element", on.exec, on.launch, work.chunks.size,
      KOKKOS_LAMBDA(std::int64_t i) { Kokkos::atomic_add(&sum(), static_cast<Total<T>>(x(i))); });
}

template <class V>
using Scratch = Kokkos::View<V*, Exec::scratch_memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

// Trees over `lanes` values of a team's scratch, whose sum is the first at their end.
// Source: M. Harris, Optimizing Parallel Reduction in CUDA (NVIDIA, 2007).

/// Interleaved addressing: every second lane adds, every fourth, ..., so that the threads of a warp diverge.
struct DivergentTree {
  template <class V>
  KOKKOS_INLINE_FUNCTION static void add(const Member& team, int lanes, const Scratch<V>& values) {
    for (int step = 1; step < lanes; step *= 2) {
      team.team_barrier();
      Kokkos::parallel_for(Kokkos::TeamVectorRange(team, lanes), [&](int lane) {
        if (lane % (2 * step) == 0 && lane + step < lanes) values(lane) += values(lane + step);
      });
    }
  }
};

/// Sequential addressing: the first half of the lanes adds the second, so that whole warps work or rest.
struct SequentialTree {
  template <class V>
  KOKKOS_INLINE_FUNCTION static void add(const Member& team, int lanes, const Scratch<V>& values) {
    for (int left = lanes, half = 0; left > 1; left = half) {
      half = (left + 1) / 2;
      team.team_barrier();
      Kokkos::parallel_for(Kokkos::TeamVectorRange(team, left - half),
                           [&](int lane) { values(lane) += values(lane + half); });
    }
  }
};

// A team takes one chunk after another; a lane one element at a time, which a tree in team scratch adds.
template <class T, class Tree>
void tree(const Pass& on, const Work<T>& work) {
  using V = Total<T>;
  const Chunks chunks = work.chunks;
  const Vector<const T> x = values_of(work);
  const Vector<V> partials = partials_of(work);
  const int lanes = on.launch.team * on.launch.vector;
  const std::size_t bytes = Scratch<V>::shmem_size(static_cast<std::size_t>(lanes));
  Kokkos::parallel_for(
      "sum/tree", on.policy().set_scratch_size(0, Kokkos::PerTeam(bytes)), KOKKOS_LAMBDA(const Member& team) {
        const Scratch<V> values(team.team_scratch(0), static_cast<std::size_t>(lanes));
        for (std::int64_t chunk = team.league_rank(); chunk < chunks.count; chunk += team.league_size()) {
          const std::int64_t from = chunk * chunks.chunk;
          const int size = chunks.size_of(chunk);
          V sum = 0;
          for (int first = 0; first < size; first += lanes) {
            team.team_barrier();  // the tree before this one is read
            Kokkos::parallel_for(Kokkos::TeamVectorRange(team, lanes), [&](int lane) {
              values(lane) = first + lane < size ? static_cast<V>(x(from + first + lane)) : V{0};
            });
            Tree::add(team, lanes, values);
            blocks::once_per_team(team, [&] { sum += values(0); });
          }
          blocks::once_per_team(team, [&] { partials(chunk) = sum; });
        }
      });
}

// A team takes one chunk after another; a lane one element at a time, which a reduction over the team (on a GPU by
// shuffles) adds.
template <class T>
void shuffle(const Pass& on, const Work<T>& work) {
  const Chunks chunks = work.chunks;
  const Vector<const T> x = values_of(work);
  const Vector<Total<T>> partials = partials_of(work);
  const int lanes = on.launch.team * on.launch.vector;
  Kokkos::parallel_for(
      "sum/shuffle", on.policy(), KOKKOS_LAMBDA(const Member& team) {
        for (std::int64_t chunk = team.league_rank(); chunk < chunks.count; chunk += team.league_size()) {
          const std::int64_t from = chunk * chunks.chunk;
          const int size = chunks.size_of(chunk);
          Total<T> total = 0;
          for (int first = 0; first < size; first += lanes) {
            Total<T> of_lanes = 0;
            Kokkos::parallel_reduce(
                Kokkos::TeamVectorRange(team, lanes),
                [&](int lane, Total<T>& sum) {
                  sum += first + lane < size ? static_cast<Total<T>>(x(from + first + lane)) : 0;
                },
                of_lanes);
            total += of_lanes;
          }
          blocks::once_per_team(team, [&] { partials(chunk) = total; });
        }
      });
}

// A team takes one chunk after another; a lane adds every lanes-th element of it, then a reduction adds the lanes.
template <class T>
void several_per_thread(const Pass& on, const Work<T>& work) {
  const Chunks chunks = work.chunks;
  const Vector<const T> x = values_of(work);
  const Vector<Total<T>> partials = partials_of(work);
  const int lanes = on.launch.team * on.launch.vector;
  Kokkos::parallel_for(
      "sum/several_per_thread", on.policy(), KOKKOS_LAMBDA(const Member& team) {
        for (std::int64_t chunk = team.league_rank(); chunk < chunks.count; chunk += team.league_size()) {
          Total<T> total = 0;
          Kokkos::parallel_reduce(
              Kokkos::TeamVectorRange(team, lanes),
              [&](int lane, Total<T>& mine) {
                for (int i = lane; i < chunks.size_of(chunk); i += lanes) mine += x(chunk * chunks.chunk + i);
              },
              total);
          blocks::once_per_team(team, [&] { partials(chunk) = total; });
        }
      });
}

constexpr blocks::Numbers of_rungs = blocks::by_kind({.team = 256}, {.team = 1});

Launch configure_rung(Queue& queue, Launch launch, Chunks chunks) {
  const LaunchLimits most = blocks::naive_limits(queue);
  launch = resolve(launch, {0, std::min(of_rungs.team, most.team_times_vector), 1}, most);
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
                      Launch (*launch)(Queue&, Launch, Chunks) = configure_rung) {
  return {kind, launch, accumulate, finish<T>, Sum::any_order};
}

const WrittenModel once_rung =
    written_once<float, double, std::int32_t>(model, []<class T>(Of<T>) { return blocks::named(of_rungs); });
const RegisterSum variants[] = {
    {"one_thread", written_once(model),
     []<class T>(Of<T>) { return rung<T>(Partials::a_chunk, one_thread<T>, configure_alone); }},
    {"atomic_per_element", once_rung, []<class T>(Of<T>) { return rung<T>(Partials::a_shard, atomic_per_element<T>); }},
    {"tree_divergent", once_rung, []<class T>(Of<T>) { return rung<T>(Partials::a_chunk, tree<T, DivergentTree>); }},
    {"tree_sequential", once_rung, []<class T>(Of<T>) { return rung<T>(Partials::a_chunk, tree<T, SequentialTree>); }},
    {"shuffle", once_rung, []<class T>(Of<T>) { return rung<T>(Partials::a_chunk, shuffle<T>); }},
    {"several_per_thread", once_rung,
     []<class T>(Of<T>) { return rung<T>(Partials::a_chunk, several_per_thread<T>); }}};

}  // namespace
}  // namespace league::kokkos::sum
