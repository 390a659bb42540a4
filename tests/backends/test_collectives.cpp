// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/backends/communication.hpp"

// Every collective of every engine: types, orders, sizes, queues, recorded or not.
namespace league::tests {
namespace {

constexpr Operation operations[] = {Operation::all_reduce, Operation::reduce_scatter, Operation::all_gather,
                                    Operation::broadcast, Operation::exchange};
constexpr Dtype types[] = {Dtype::f32, Dtype::f64, Dtype::i32, Dtype::i64};
constexpr Order orders[] = {Order::ordered, Order::any};
// the longest sum in stamped words of the engine `local`; a size that does not split evenly
constexpr std::int64_t threshold = 32 * 1024, large = 1'000'003;

using Collectives = Communication;

bool has_order(Operation operation) {
  return operation == Operation::all_reduce || operation == Operation::reduce_scatter;
}

TEST_P(Collectives, EveryOperationOfEveryTypeAndSize) {
  for (const Operation operation : operations)
    for (const Dtype type : types)
      for (const Order order : orders)
        for (const std::int64_t size : {0, 1, 2, 3, 16, 513, 7850}) {
          if (order == Order::any && !has_order(operation)) continue;
          Trial trial(*this, {operation, size, type, order});
          for (int i = 0; i < 9; ++i) trial.once();
          trial.expect_right();
        }
}

TEST_P(Collectives, LargeBuffers) {
  for (const Operation operation : operations)
    for (const Order order : orders)
      for (const std::int64_t size : {threshold, threshold + 1, large}) {
        if (order == Order::any && !has_order(operation)) continue;
        Trial trial(*this, {operation, size, size == large ? Dtype::f32 : Dtype::f64, order});
        for (int i = 0; i < 8; ++i) trial.once();
        trial.expect_right();
      }
}

TEST_P(Collectives, BuffersThatAreNotAligned) {
  for (const Operation operation : {Operation::all_reduce, Operation::reduce_scatter})
    for (const Dtype type : types)
      for (const std::int64_t skew : {0, 1, 2, 3})
        for (const std::int64_t every_other : {0, 1}) {
          Trial trial(*this, {operation, threshold + 5, type, Order::ordered, 0, skew, every_other});
          for (int i = 0; i < 3; ++i) trial.once();
          trial.expect_right();
        }
}

TEST_P(Collectives, OnTheSecondQueue) {
  for (const Operation operation : operations)
    for (const std::int64_t size : {5L, 4000L, threshold + 1}) {
      Trial trial(*this, {operation, size, Dtype::f64, Order::ordered, 1});
      for (int i = 0; i < 30; ++i) trial.once();
      trial.expect_right();
    }
}

TEST_P(Collectives, InRecordedWork) {
  if (!can_be_recorded()) {
    Trial trial(*this, {.size = 5});
    EXPECT_THROW(static_cast<void>(runtime_.record(queues_, [&] { trial.call(); })), Unsupported);
    return;
  }
  for (const Operation operation : operations)
    for (const Order order : orders)
      for (const int queue : {0, 1})
        for (const std::int64_t size : {7L, 4000L, threshold + 1}) {
          if (order == Order::any && !has_order(operation)) continue;
          Trial trial(*this, {operation, size, Dtype::f32, order, queue});
          trial.once();
          fence();
          const auto graph = runtime_.record(queues_, [&] {
            for (int step = 0; step < 9; ++step) trial.once();
          });
          for (int i = 0; i < 5; ++i) graph->launch();
          trial.once();
          graph->launch();
          trial.expect_right();
        }
}

/// A call on queue 1 concurrent with calls on queue 0.
TEST_P(Collectives, BesideOtherWork) {
  if (!can_be_recorded()) GTEST_SKIP() << "waits for the host";
  for (const std::int64_t size : {600L, 4000L, threshold + 1})
    for (const Operation operation : {Operation::all_reduce, Operation::all_gather}) {
      Trial beside(*this, {operation, size, Dtype::f64, Order::ordered, 1});
      Trial first(*this, {.size = 700, .order = Order::ordered});
      const auto step = [&] {
        beside.fill();
        beside.call();
        for (int i = 0; i < 3; ++i) first.once();
        beside.compare();
      };
      for (int i = 0; i < 40; ++i) step();
      fence();
      const auto graph = runtime_.record(queues_, [&] {
        for (int i = 0; i < 9; ++i) step();
      });
      for (int i = 0; i < 9; ++i) graph->launch();
      step();
      beside.expect_right();
      first.expect_right();
    }
}

/// Back-to-back calls, ordered by the queues only.
TEST_P(Collectives, OneAfterAnotherOfDifferentTypesAndSizes) {
  std::vector<Trial> trials;
  trials.reserve(12);
  for (const Dtype type : types)
    for (const std::int64_t size : {40L, 1200L, threshold + 1})
      trials.emplace_back(*this, Plan{.size = size, .type = type, .order = Order::ordered});
  for (int i = 0; i < 300; ++i)
    for (std::size_t which = 0; which < trials.size(); ++which)
      if ((i + static_cast<int>(which)) % 3 != 0) trials[which].once();
  for (Trial& trial : trials) trial.expect_right();
}

TEST_P(Collectives, RefuseWhatDoesNotFit) {
  if (shards_.size() < 2) GTEST_SKIP() << "a single buffer cannot differ";
  Trial trial(*this, {.size = 100});
  std::vector<Buffer> buffers = trial.buffers();
  EXPECT_THROW(communicator_->all_reduce(buffers, Order::ordered), std::logic_error) << "room for `any` only";
  EXPECT_THROW(communicator_->all_reduce(buffers, Order::any, 1), std::logic_error) << "nothing reserved on this queue";
  buffers.back().size = 99;
  EXPECT_THROW(communicator_->all_reduce(buffers, Order::any), std::logic_error);
  EXPECT_THROW(communicator_->all_gather(buffers), std::logic_error);
  EXPECT_THROW(communicator_->broadcast(buffers), std::logic_error);
  buffers.pop_back();
  EXPECT_THROW(communicator_->reduce_scatter(buffers, Order::any), std::logic_error);
}

TEST_P(Collectives, KernelsThatExchangeThemselves) {
  if (alone()) GTEST_SKIP() << "one shard needs no communicator";
  communicator_->reserve(2048);
  std::vector<DeviceView> views;
  std::vector<double> terms;
  for (std::size_t shard = 0; shard < shards_.size(); ++shard) {
    const auto view = communicator_->device_view(shard);
    const bool local = GetParam().engine == "local" || GetParam().engine == "auto";
    EXPECT_EQ(view.has_value(), local && GetParam().kind == DeviceKind::gpu);
    if (!view) return;
    EXPECT_EQ(view->shards, GetParam().devices);
    EXPECT_EQ(view->self, static_cast<int>(shard));
    EXPECT_GE(view->capacity, 256);
    views.push_back(*view);
    terms.push_back(1000.25 * static_cast<double>(shard + 1));
  }
  EXPECT_EQ(add_by_views_on_gpu()(queues_, views, terms), 0);
  Trial trial(*this, {.size = 16});  // which replaces the slots
  for (int i = 0; i < 20; ++i) trial.once();
  trial.expect_right();
}

INSTANTIATE_TEST_SUITE_P(Engines, Collectives, ::testing::ValuesIn(engine_settings()),
                         ::testing::PrintToStringParamName());

}  // namespace
}  // namespace league::tests
