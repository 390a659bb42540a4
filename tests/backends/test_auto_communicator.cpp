// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include "backends/auto_communicator.hpp"
#include "tests/runtime.hpp"

// The choice of engine by "auto". Its results: tests/backends/test_communicator.cpp, as for all engines.
namespace league::tests {
namespace {

/// Records calls without executing them.
class Noting final : public Communicator {
 public:
  explicit Noting(std::vector<std::string>& calls) : calls_(calls) {}
  void reserve(std::int64_t bytes, Order, int) override { calls_.push_back("reserve " + std::to_string(bytes)); }
  void all_reduce(std::span<const Buffer>, Order, int) override { calls_.emplace_back("all_reduce"); }
  void reduce_scatter(std::span<const Buffer>, Order, int) override { calls_.emplace_back("reduce_scatter"); }
  void all_gather(std::span<const Buffer>, int) override { calls_.emplace_back("all_gather"); }
  void gather(std::span<const Buffer>, Buffer, int) override { calls_.emplace_back("gather"); }
  void broadcast(std::span<const Buffer>, int) override { calls_.emplace_back("broadcast"); }
  void exchange(std::span<const Transfer>, int) override { calls_.emplace_back("exchange"); }
  [[nodiscard]] std::optional<DeviceView> device_view(std::size_t) override { return DeviceView{.shards = 7}; }

 private:
  std::vector<std::string>& calls_;
};

using Calls = std::vector<std::string>;

/// Every call, with `bytes` in a buffer of each of two shards.
void make_all(Communicator& communicator, std::int64_t bytes) {
  const std::vector<Buffer> buffers(2, {nullptr, bytes, Dtype::u8});
  const std::vector<Buffer> pieces(2, {nullptr, bytes / 2, Dtype::u8});
  const std::vector<Transfer> transfers{{0, 1, nullptr, nullptr, bytes}, {1, 0, nullptr, nullptr, 1}};
  communicator.all_reduce(buffers, Order::any);
  communicator.reduce_scatter(buffers, Order::any);
  communicator.all_gather(buffers);
  communicator.gather(pieces, {nullptr, bytes, Dtype::u8});
  communicator.broadcast(buffers);
  communicator.exchange(transfers);
}

class AutoTest : public ::testing::Test {
 protected:
  Calls few_, many_;
  AutoCommunicator made_{{"quick", std::make_unique<Noting>(few_)}, {"wide", std::make_unique<Noting>(many_)}};
  Communicator& auto_ = made_;
  const Calls all_{"all_reduce", "reduce_scatter", "all_gather", "gather", "broadcast", "exchange"};
};

TEST_F(AutoTest, LeavesFewBytesToOneAndManyToTheOther) {
  EXPECT_EQ(auto_.taken(), Calls{});
  for (const std::int64_t bytes : {0, 8, 4096}) {
    few_.clear(), many_.clear();
    make_all(auto_, bytes);
    EXPECT_EQ(few_, all_) << bytes;
    EXPECT_EQ(many_, Calls{}) << bytes;
  }
  EXPECT_EQ(auto_.taken(), Calls{"quick"});
  few_.clear(), many_.clear();
  make_all(auto_, std::int64_t{1} << 20);
  EXPECT_EQ(few_, (Calls{"all_reduce", "reduce_scatter", "all_gather", "gather", "exchange"}));
  EXPECT_EQ(many_, Calls{"broadcast"});
  few_.clear(), many_.clear();
  make_all(auto_, std::int64_t{1} << 25);
  EXPECT_EQ(few_, Calls{"all_gather"});
  EXPECT_EQ(many_, (Calls{"all_reduce", "reduce_scatter", "gather", "broadcast", "exchange"}));
  few_.clear(), many_.clear();
  make_all(auto_, std::int64_t{1} << 30);
  EXPECT_EQ(few_, Calls{});
  EXPECT_EQ(many_, all_);
  EXPECT_EQ(auto_.taken(), (Calls{"quick", "wide"}));
}

TEST_F(AutoTest, MakesRoomWhereACallMayGo) {
  auto_.reserve(8);
  EXPECT_EQ(few_, Calls{"reserve 8"});
  EXPECT_EQ(many_, Calls{}) << "no sum of 8 bytes goes there";
  auto_.reserve(std::int64_t{1} << 25);
  EXPECT_EQ(few_.back(), "reserve 16777216") << "the longest sum that goes there";
  EXPECT_EQ(many_, Calls{"reserve 33554432"});
  auto_.reserve(std::int64_t{1} << 30);
  ASSERT_EQ(few_.size(), 3U);
  EXPECT_NE(few_.back(), "reserve 1073741824") << "calls for the other engine";
  ASSERT_EQ(many_.size(), 2U);
  EXPECT_EQ(many_.back(), "reserve 1073741824");
}

TEST_F(AutoTest, KernelsThatSendThemselvesGetTheViewOfTheFirst) {
  ASSERT_TRUE(auto_.device_view(0).has_value());
  EXPECT_EQ(auto_.taken(), Calls{"quick"});
}

TEST_F(AutoTest, OneAloneGetsAllCalls) {
  AutoCommunicator made{{"quick", std::make_unique<Noting>(few_)}, {}};
  Communicator& alone = made;
  alone.reserve(std::int64_t{1} << 30);
  make_all(alone, std::int64_t{1} << 30);
  Calls expected = all_;
  expected.insert(expected.begin(), "reserve 1073741824");
  EXPECT_EQ(few_, expected);
  EXPECT_EQ(alone.taken(), Calls{"quick"});
}

TEST(Auto, OnHostsTakesLocal) {
  const std::vector<Shard> two{{{DeviceKind::host, 0, 1}, {0, 1}, 0}, {{DeviceKind::host, 1, 1}, {1, 2}, 1}};
  const auto made = make_communicator(runtime(), two, {{{0, 1}, {1, 2}}, 0, 2}, "auto");
  double values[] = {1, 2};
  const std::vector<Buffer> buffers{buffer_of(values, 1), buffer_of(values + 1, 1)};
  made->reserve(8);
  made->all_reduce(buffers, Order::any);
  EXPECT_EQ(values[0], 3);
  EXPECT_EQ(values[1], 3);
  EXPECT_EQ(made->taken(), Calls{"local"});
}

/// Half of the shards are in another process: the reasons of all engines.
TEST(Auto, SaysWhyNoEngineJoinsTheShards) {
  const std::vector<Shard> one{{{DeviceKind::host, 0, 1}, {0, 1}, 0}};
  try {
    make_auto_communicator(runtime(), one, {{{0, 1}, {1, 2}}, 0, 1});
    FAIL();
  } catch (const Unsupported& reason) {
    EXPECT_NE(std::string(reason.what()).find("communicator 'local' connects the devices of one process"),
              std::string::npos)
        << reason.what();
  }
}

}  // namespace
}  // namespace league::tests
