// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <barrier>
#include <memory>
#include <thread>
#include <vector>

#include "algorithms/blocks/group.hpp"

/// Teams that wait for each other, on threads of the host.
namespace league::blocks {

struct GivenUp {};
struct HostAtomics {
  unsigned max_polls = 1U << 26;
  static void fence() { std::atomic_thread_fence(std::memory_order_seq_cst); }
  static unsigned add(unsigned* word, unsigned value) { return std::atomic_ref(*word).fetch_add(value); }
  static unsigned load(unsigned* word) {
    std::this_thread::yield();
    return std::atomic_ref(*word).load();
  }
  static void give_up() { throw GivenUp{}; }
};

/// Calls `body(group, team)` on all `size` threads of every team.
template <class Body>
void run_teams(int teams, int size, const Body& body) {
  std::vector<std::unique_ptr<std::barrier<>>> barriers;
  std::vector<std::jthread> threads;
  for (int team = 0; team < teams; ++team) barriers.push_back(std::make_unique<std::barrier<>>(size));
  for (int team = 0; team < teams; ++team)
    for (int rank = 0; rank < size; ++rank)
      threads.emplace_back([&body, team, rank, size, barrier = barriers[static_cast<std::size_t>(team)].get()] {
        body(group_of(rank, size, [barrier] { barrier->arrive_and_wait(); }), team);
      });
}

}  // namespace league::blocks
