// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/group_kokkos.hpp"
#include "algorithms/cnn/gpu_shard.hpp"
#include "backends/kokkos/kokkos.hpp"

/// Launches of the kernels in Kokkos; line beside line with `cuda_launcher.hpp`.
namespace league::cnn::kokkos_model {

using kokkos::Exec;

template <class Kernel>
using Policy = Kokkos::TeamPolicy<Exec, Kokkos::IndexType<int>,
                                  Kokkos::LaunchBounds<Kernel::threads, kokkos::launch_bound(Kernel::min_teams)>>;

template <class Kernel>
auto policy_of(const Exec& exec, int teams) {
  return kokkos::light(
      Policy<Kernel>(exec, teams, Kernel::threads, 1).set_scratch_size(0, Kokkos::PerTeam(Kernel::scratch_bytes + 16)));
}
template <class Kernel, class Member>
KOKKOS_INLINE_FUNCTION float* scratch_of(const Member& team) {
  return kokkos::aligned_scratch<float>(team, static_cast<std::size_t>(Kernel::scratch_bytes));
}
/// `Threads`: blocks::TeamThreads or blocks::NativeThreads.
template <class Threads>
struct Launcher {
  const Exec& exec;

  // Teams of the kernel's own size; league-stride loop over the items.
  template <class Kernel, class State, class Memory, class Take>
  void items(int teams, const State& s, const Memory& memory, const Take& given, int items) const {
    const auto policy = policy_of<Kernel>(exec, teams);
    using Member = typename decltype(policy)::member_type;
    Kokkos::parallel_for(
        "cnn/items", policy, KOKKOS_LAMBDA(const Member& team) {
          float* scratch = scratch_of<Kernel>(team);
          const Take take = given.trains ? s.now() : given;
          for (int item = team.league_rank(); item < items; item += team.league_size())
            Kernel::run(Threads::template of<Kernel::threads>(team), s, memory, take, item, scratch);
        });
  }
  // Persistent teams, each with one set of sums.
  template <class Kernel, class State, class Memory>
  void teams(int teams, const State& s, const Memory& memory) const {
    const auto policy = policy_of<Kernel>(exec, teams);
    using Member = typename decltype(policy)::member_type;
    Kokkos::parallel_for(
        "cnn/teams", policy, KOKKOS_LAMBDA(const Member& team) {
          float* scratch = scratch_of<Kernel>(team);
          Kernel::run(Threads::template of<Kernel::threads>(team), s, memory, s.now(), team.league_rank(),
                      team.league_size(), scratch);
        });
  }
  // One element per thread.
  template <class Body>
  void elements(int count, const Body& body) const {
    Kokkos::parallel_for("cnn/elements", kokkos::light(Kokkos::RangePolicy<Exec>(exec, 0, count)), body);
  }
};

template <class Threads>
struct Gpu {
  template <class T>
  using Array = kokkos::Array<T>;
  Gpu(Runtime& runtime, Queue& queue) : exec_(kokkos::instance(runtime, queue)) {}
  [[nodiscard]] Launcher<Threads> launcher() const { return {exec_}; }

 private:
  const Exec& exec_;
};

}  // namespace league::cnn::kokkos_model
