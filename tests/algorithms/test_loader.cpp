// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <stdexcept>

#include "algorithms/drivers/loader.hpp"

// Worker threads that prepare the inputs of steps.
namespace league {
namespace {

constexpr int workers = 3, slots = 4;

TEST(Loader, GivesTheStepsInTheirOrder) {
  std::array<std::atomic<std::int64_t>, slots> inputs{};
  Loader loader(workers, slots, [&](std::int64_t step, int slot) {
    if (step % 3 == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));  // later ones are ready before
    inputs[static_cast<std::size_t>(slot)] = step;
  });
  for (const Range steps : {Range{0, 50}, Range{7, 9}, Range{0, 0}, Range{50, 60}}) {
    loader.start(steps);
    for (std::int64_t step = steps.begin; step < steps.end; ++step) {
      const int slot = loader.take();
      EXPECT_EQ(inputs[static_cast<std::size_t>(slot)], step);
      loader.release(slot);
    }
  }
}

TEST(Loader, ATakenSlotStaysAsItIs) {
  std::array<std::atomic<std::int64_t>, slots> inputs{};
  Loader loader(workers, slots, [&](std::int64_t step, int slot) { inputs[static_cast<std::size_t>(slot)] = step; });
  loader.start({0, 10});
  const int first = loader.take();
  for (int step = 1; step < 5; ++step) loader.release(loader.take());
  loader.start({20, 40});  // the rest of the ten is discarded
  for (std::int64_t step = 20; step < 40; ++step) {
    const int slot = loader.take();
    EXPECT_NE(slot, first);
    EXPECT_EQ(inputs[static_cast<std::size_t>(slot)], step);
    loader.release(slot);
  }
  EXPECT_EQ(inputs[static_cast<std::size_t>(first)], 0);
}

std::ptrdiff_t threads_here() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"), std::filesystem::directory_iterator());
}

TEST(Loader, AnErrorReachesTheCallerAndThreadsEnd) {
  const std::ptrdiff_t before = threads_here();
  {
    Loader loader(workers, slots, [](std::int64_t step, int) {
      if (step == 5) throw std::runtime_error("image 5 cannot be read");
    });
    for (int again = 0; again < 2; ++again) {
      loader.start({0, 100});
      for (int step = 0; step < 100; ++step) try {
          loader.release(loader.take());
          EXPECT_LT(step, 5);
        } catch (const std::runtime_error& error) {
          EXPECT_STREQ(error.what(), "image 5 cannot be read");
          EXPECT_LE(step, 5);
          break;
        }
    }
    loader.start({6, 8});
    loader.release(loader.take());
    EXPECT_EQ(threads_here(), before + workers);
  }
  EXPECT_EQ(threads_here(), before);
}

}  // namespace
}  // namespace league
