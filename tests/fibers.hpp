// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <functional>

/// Threads that one thread runs in turn, each until it waits at a barrier. A barrier of hundreds of them costs a switch
/// of stacks each, where the operating system's threads sleep and wake.
namespace league::tests {

/// All of `size` fibers wait for each other.
class FiberBarrier {
 public:
  explicit FiberBarrier(int size) : size_(size) {}
  void arrive_and_wait();

 private:
  int size_, arrived_ = 0;
  std::uint64_t generation_ = 0;
};

/// Calls `body(rank)` on `size` fibers, in another order after every barrier, so that a missing barrier is found.
/// @throws what a body throws; std::logic_error if fibers wait at a barrier that the others do not reach
void run_fibers(int size, const std::function<void(int)>& body);

/// The rank of the fiber that calls.
int fiber_rank();

}  // namespace league::tests
