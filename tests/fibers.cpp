// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/fibers.hpp"

#include <ucontext.h>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <memory>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

namespace league::tests {
namespace {

constexpr std::size_t stack_bytes = 128 * 1024;

struct Fiber {
  int rank = 0;
  ucontext_t context{};
  std::unique_ptr<std::byte[]> stack = std::make_unique_for_overwrite<std::byte[]>(stack_bytes);
  const std::uint64_t* generation = nullptr;  // of the barrier at which it waits, and what that was on arrival
  std::uint64_t seen = 0;
  bool finished = false;
  [[nodiscard]] bool waits() const { return finished || (generation != nullptr && *generation == seen); }
};

struct Scheduler {
  ucontext_t context{};
  Fiber* running = nullptr;
  const std::function<void(int)>* body = nullptr;
  std::exception_ptr error;
};
thread_local Scheduler* scheduler = nullptr;

void enter() {
  Fiber& fiber = *scheduler->running;
  try {
    (*scheduler->body)(fiber.rank);
  } catch (...) {
    scheduler->error = std::current_exception();
  }
  fiber.finished = true;  // and on to `context.uc_link`, the scheduler
}

/// A function of its own: no variable may live across `getcontext`.
void prepare(Fiber& fiber, int rank, Scheduler& owner) {
  fiber.rank = rank;
  getcontext(&fiber.context);
  fiber.context.uc_stack.ss_sp = fiber.stack.get();
  fiber.context.uc_stack.ss_size = stack_bytes;
  fiber.context.uc_link = &owner.context;
  makecontext(&fiber.context, enter, 0);
}

/// Lets every fiber that does not wait run on. Whether there was one.
bool run_round(const std::vector<std::unique_ptr<Fiber>>& fibers) {
  bool any = false;
  for (const auto& fiber : fibers) {
    if (fiber->waits()) continue;
    any = true;
    scheduler->running = fiber.get();
    swapcontext(&scheduler->context, &fiber->context);
    if (scheduler->error) std::rethrow_exception(scheduler->error);
  }
  return any;
}

}  // namespace

void FiberBarrier::arrive_and_wait() {
  if (++arrived_ == size_) {
    arrived_ = 0;
    ++generation_;
    return;
  }
  Fiber& fiber = *scheduler->running;
  fiber.generation = &generation_, fiber.seen = generation_;
  swapcontext(&fiber.context, &scheduler->context);
}

int fiber_rank() { return scheduler->running->rank; }

void run_fibers(int size, const std::function<void(int)>& body) {
  Scheduler mine;
  mine.body = &body;
  std::vector<std::unique_ptr<Fiber>> fibers;
  for (int rank = 0; rank < size; ++rank) prepare(*fibers.emplace_back(std::make_unique<Fiber>()), rank, mine);
  const auto all_finished = [&] { return std::ranges::all_of(fibers, [](const auto& one) { return one->finished; }); };
  Scheduler* const outer = std::exchange(scheduler, &mine);
  const std::shared_ptr<void> restore(nullptr, [outer](void*) { scheduler = outer; });
  std::mt19937 random(7);
  do std::ranges::shuffle(fibers, random);
  while (run_round(fibers));
  if (!all_finished()) throw std::logic_error("fibers wait at a barrier that others of their team do not reach");
}

}  // namespace league::tests
