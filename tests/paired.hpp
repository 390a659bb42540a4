// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "algorithms/contract/problem.hpp"
#include "backends/communicator.hpp"

/// Several processes simulated in this one, on host devices: what every process of a run would do is done by a thread.
namespace league::tests {

/// What one of them sees of the world, and how it speaks to the others.
struct Rank {
  int number = 0;
  Partition world;
  std::vector<Shard> shards;                   ///< its own
  std::unique_ptr<Communicator> communicator;  ///< engine "paired": sums in the order of all shards
  std::unique_ptr<Reduce> reduce;
};

/// Splits `rows` (in batches of `batch`, if not 0) over `ranks` with `devices` each, and runs `body` for every rank.
/// One runs at a time: until it waits in a call for the others, or ends. They make the same calls in the same order,
/// recorded ones included.
/// @throws what a rank has thrown first; std::logic_error where the calls of two ranks differ, or one ends while
/// another waits
void on_ranks(int ranks, std::int64_t rows, const std::function<void(Rank&)>& body, int devices = 1,
              std::int64_t batch = 0);

}  // namespace league::tests
