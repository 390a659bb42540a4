// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/backends/communication.hpp"

// Sums and gathers of doubles, as used in solves; all else: test_collectives.cpp.
namespace league::tests {
namespace {

using Communicating = Communication;

TEST_P(Communicating, AddsOverAllShardsInEveryBuffer) {
  for (const std::int64_t size : {1, 16, 513, 7850}) {
    Trial trial(*this, {.size = size});
    for (int i = 0; i < 20; ++i) trial.once();
    trial.expect_right();
  }
}

TEST_P(Communicating, AddsThousandsOfTimesInARow) {
  Trial small(*this, {.size = 16});
  for (int i = 0; i < 5000; ++i) small.once();
  small.expect_right();
  Trial larger(*this, {.size = 600});
  for (int i = 0; i < 2000; ++i) larger.once();
  larger.expect_right();
}

TEST_P(Communicating, AddsInRecordedWork) {
  if (!can_be_recorded()) GTEST_SKIP() << "waits for the host";
  for (const std::int64_t size : {1, 16, 7850}) {
    Trial trial(*this, {.size = size});
    trial.once();
    fence();
    const auto graph = runtime_.record(queues_, [&] {
      for (int step = 0; step < 51; ++step) trial.once();
    });
    for (int i = 0; i < 20; ++i) graph->launch();
    trial.once();
    graph->launch();
    trial.expect_right();
  }
}

TEST_P(Communicating, FindsWhatIsWrong) {
  Trial trial(*this, {.size = 16});
  for (std::size_t shard = 0; shard < shards_.size(); ++shard) {
    trial.probe(shard).fill();
    trial.probe(shard).compare();  // without a sum
    EXPECT_EQ(trial.probe(shard).wrong() > 0, !alone());
  }
}

/// A probe with a buffer of `size` doubles, to be overwritten.
std::unique_ptr<ExchangeProbe> blank(Queue& queue, std::int64_t size) {
  const HostArray nothing(runtime().host_memory(), Dtype::f64, {1, size});
  return make_probe(queue, {nothing, nothing});
}

TEST_P(Communicating, GathersPiecesOnTheFirstDevice) {
  constexpr std::int64_t largest = 513;
  using Sizes = std::vector<std::int64_t>;
  for (const Sizes& sizes : {Sizes{3, 5, 7, 2}, Sizes{0, 4, 0, 1}, Sizes{largest, 0, 1, 9}, Sizes{0, 0, 0, 0}})
    for (int queue = 0; queue < Communicator::queue_count; ++queue) {
      Trial trial(*this, {.size = largest});
      std::vector<Buffer> pieces;
      std::vector<double> expected;
      trial.fill();
      const auto size_of = [&](std::size_t shard) { return sizes[shard % sizes.size()]; };
      for (std::size_t shard = 0; shard < world_.rows.size(); ++shard)
        std::ranges::copy_n(first_round(sent_by(shard, largest)).begin(), size_of(shard), std::back_inserter(expected));
      for (std::size_t i = 0; i < shards_.size(); ++i)
        pieces.push_back(
            {trial.probe(i).buffer().data, size_of(static_cast<std::size_t>(shards_[i].index)), Dtype::f64});
      if (alone()) {  // a single shard gathers in place
        communicator_->gather(
            pieces, {trial.probe(0).buffer().data, static_cast<std::int64_t>(expected.size()), Dtype::f64}, queue);
        EXPECT_EQ(trial.probe(0).read(), first_round(sent_by(0, largest)));
      } else {
        if (world_.first_local != 0) expected.clear();  // only the rank of shard 0 gets the result
        const auto whole = blank(*queues_.front(), static_cast<std::int64_t>(expected.size()));
        fence();
        communicator_->gather(pieces, whole->buffer(), queue);
        fence();
        EXPECT_EQ(whole->read(), expected);
      }
    }
}

TEST_P(Communicating, GathersBeforePiecesAreOverwritten) {
  if (alone()) GTEST_SKIP() << "a single shard gathers in place";
  constexpr std::int64_t size = 20'000;
  const std::int64_t shards = world_.first_local == 0 ? std::ssize(world_.rows) : 0;  // other ranks receive nothing
  Trial trial(*this, {.size = size});
  HostArray expected(runtime_.host_memory(), Dtype::f64, {probe_rounds, shards * size});
  for (std::int64_t round = 0; round < probe_rounds; ++round)
    for (std::size_t shard = 0; shard < static_cast<std::size_t>(shards); ++shard)
      std::ranges::copy(sent_by(shard, size).values<double>(round, round + 1),
                        expected.values<double>(round, round + 1).begin() + static_cast<std::ptrdiff_t>(shard) * size);
  const auto whole = make_probe(*queues_.front(), {expected, expected});
  for (int i = 0; i < 500; ++i) {
    trial.fill();
    communicator_->gather(trial.buffers(), whole->buffer());
    trial.compare();  // the next round
    whole->compare();
  }
  EXPECT_EQ(whole->wrong(), 0);
}

INSTANTIATE_TEST_SUITE_P(Engines, Communicating, ::testing::ValuesIn(engine_settings()),
                         ::testing::PrintToStringParamName());

TEST(Communicator, EnginesBelongToAKindOfDevice) {
  const std::vector<Shard> two{{{DeviceKind::host, 0, 1}, {0, 1}, 0}, {{DeviceKind::host, 1, 1}, {1, 2}, 1}};
  for (const char* engine : {"nccl", "smoke_signals"}) try {
      make_communicator(runtime(), two, {{{0, 1}, {1, 2}}, 0, 2}, engine);
      FAIL() << engine;
    } catch (const Unsupported& reason) {
      EXPECT_EQ(reason.what(), "no communicator '" + std::string(engine) + "' between host devices in this build");
    }
  EXPECT_NE(make_communicator(runtime(), std::span(two).first(1), {{{0, 1}}, 0, 1}, "nccl"), nullptr)
      << "one shard needs none";
}

TEST(Communicator, PiecesDifferByOneValueAtMost) {
  const auto pieces = [](std::int64_t size, int shards) {
    std::vector<Range> all;
    for (int i = 0; i < shards; ++i) all.push_back(piece_of(size, shards, i));
    return all;
  };
  EXPECT_EQ(pieces(10, 4), (std::vector<Range>{{0, 3}, {3, 6}, {6, 8}, {8, 10}}));
  EXPECT_EQ(pieces(2, 3), (std::vector<Range>{{0, 1}, {1, 2}, {2, 2}}));
  EXPECT_EQ(pieces(0, 2), (std::vector<Range>{{0, 0}, {0, 0}}));
  EXPECT_EQ(pieces(std::int64_t{1} << 40, 2),
            (std::vector<Range>{{0, std::int64_t{1} << 39}, {std::int64_t{1} << 39, std::int64_t{1} << 40}}));
}

}  // namespace
}  // namespace league::tests
