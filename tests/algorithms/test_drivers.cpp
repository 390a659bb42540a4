// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <numeric>

#include "algorithms/contract/partition.hpp"
#include "algorithms/drivers/iterative.hpp"
#include "algorithms/drivers/split.hpp"
#include "backends/host_array.hpp"
#include "tests/heap.hpp"
#include "tests/runtime.hpp"

// The production drivers with a variant whose result is known: x <- x + step index * rows, until a limit.
namespace league {
namespace {

constexpr std::int64_t rows = 7;

struct State {
  double value = 0, sum = 0;
  std::int64_t step = 0;
};

/// `by_host`: counts its steps on the host, which is wrong in replayed graphs.
class Fake final : public IterativeShard {
 public:
  Fake(const Context& context, const Shard& shard, double limit, bool by_host)
      : IterativeShard(context, shard), limit_(limit), by_host_(by_host) {
    declare(value_, "value", 1);
    declare(sum_, "sum", 1);
    declare(step_, "step", 1);
    whole_output(value_, 0);
    whole_output(step_, 1);
  }
  Launch configure(Launch) override { return {1, 1, 1}; }
  void begin() const override {
    host_step_ = 0;
    queue().submit([value = value_.data(), step = step_.data()] { *value = 0, *step = 0; });
  }
  void accumulate() const override {
    const std::int64_t counted = by_host_ ? host_step_++ : -1;
    queue().submit([=, sum = sum_.data(), step = step_.data(), count = this->rows().size()] {
      *sum = static_cast<double>((counted < 0 ? *step : counted) + 1) * static_cast<double>(count);
    });
  }
  Buffer sums() const override { return buffer_of(sum_.data(), 1); }
  void update() const override {
    queue().submit([limit = limit_, value = value_.data(), sum = sum_.data(), step = step_.data()] {
      if (*value >= limit) return;
      *value += *sum;
      ++*step;
    });
  }

 private:
  double limit_;
  bool by_host_;
  mutable std::int64_t host_step_ = 0;
  host::Array<double> value_, sum_;
  host::Array<std::int64_t> step_;
};

/// A solve by fakes on host devices, and its result.
struct Solving {
  Solving(int devices, std::int64_t steps, Execution execution, double limit = 1e30, bool by_host = false)
      : world(partition(rows, devices)), shards(local_shards(world, runtime.devices(DeviceKind::host, devices))) {
    communicator = make_communicator(runtime, shards, world);
    const Context context{runtime, shards, world, *communicator, outputs, 1 << 20, execution};
    prepared = solve(context, steps,
                     [&](const Shard& shard) { return std::make_unique<Fake>(context, shard, limit, by_host); });
    prepared->configure({});
    prepared->upload();
  }
  void run() {
    Stages stages;
    prepared->reset();
    prepared->compute(stages);
    prepared->download();
    prepared->fence();
  }
  [[nodiscard]] double value() { return outputs[0].values.values<double>()[0]; }
  [[nodiscard]] std::int64_t taken() { return outputs[1].values.values<std::int64_t>()[0]; }

  Runtime& runtime = tests::runtime();
  Partition world;
  std::vector<Shard> shards;
  Outputs outputs{{"value", HostArray(runtime.host_memory(), Dtype::f64, {1}), {0, 1}},
                  {"steps", HostArray(runtime.host_memory(), Dtype::i64, {1}), {0, 1}}};
  std::unique_ptr<Communicator> communicator;
  std::unique_ptr<Prepared> prepared;
};

TEST(Drivers, TakeEveryStepOnceInEveryExecution) {
  for (const std::int64_t steps : {0, 1, 99, 100, 101, 201, 250})
    for (const int devices : {1, 2, 3, 9})
      for (const Execution execution : {Execution::stream, Execution::graph}) {
        SCOPED_TRACE(std::to_string(steps) + " steps on " + std::to_string(devices) + " " +
                     std::string(name(execution)));
        Solving solving(devices, steps, execution);
        for (int again = 0; again < 2; ++again) {
          solving.run();
          EXPECT_EQ(solving.taken(), steps);
          EXPECT_EQ(solving.value(), static_cast<double>(rows * steps * (steps + 1) / 2));
        }
      }
}

TEST(Drivers, StopWithoutTheHost) {
  for (const Execution execution : {Execution::stream, Execution::graph}) {
    Solving solving(2, 250, execution, 7 * 5000.0);
    solving.run();
    EXPECT_EQ(solving.taken(), 100) << "7 * 100 * 101 / 2 = 35350 is the first beyond 35000";
  }
}

TEST(Drivers, AGraphReplaysWhatWasRecorded) {
  Solving right(1, 250, Execution::stream, 1e30, true), wrong(1, 250, Execution::graph, 1e30, true);
  right.run(), wrong.run();
  EXPECT_EQ(right.value(), 7.0 * 250 * 251 / 2);
  EXPECT_NE(wrong.value(), right.value()) << "a step that reads host state is not detected";
}

TEST(Drivers, CallsOnThreadsAreEachMadeOnceAndTheirFailuresReported) {
  for (const int count : {1, 2, 5}) {
    std::vector<int> calls(static_cast<std::size_t>(count));
    on_threads(count, [&](int i) { ++calls[static_cast<std::size_t>(i)]; });
    EXPECT_EQ(calls, std::vector<int>(static_cast<std::size_t>(count), 1));
    std::atomic<int> others = 0;
    EXPECT_THROW(on_threads(count,
                            [&](int i) {
                              if (i == count - 1) throw Unsupported("no");
                              ++others;
                            }),
                 Unsupported);
    EXPECT_EQ(others, count - 1);
  }
}

/// Lets the kernels of the first `offered` shards communicate themselves, and counts calls.
class Offering final : public Communicator {
 public:
  explicit Offering(std::size_t offered) : offered_(offered) {}
  void all_reduce(std::span<const Buffer>, Order, int) override { ++all_reduces; }
  void reduce_scatter(std::span<const Buffer>, Order, int) override {}
  void all_gather(std::span<const Buffer>, int) override {}
  void gather(std::span<const Buffer>, Buffer, int) override {}
  void broadcast(std::span<const Buffer>, int) override {}
  void exchange(std::span<const Transfer>, int) override {}
  [[nodiscard]] std::optional<DeviceView> device_view(std::size_t local) override {
    if (local >= offered_) return {};
    return DeviceView{.shards = 2, .self = static_cast<int>(local)};
  }
  int all_reduces = 0;

 private:
  std::size_t offered_;
};

/// Keeps the view it is given.
class Asking final : public IterativeShard {
 public:
  Asking(const Context& context, const Shard& shard, std::optional<DeviceView>* given)
      : IterativeShard(context, shard), given_(given) {
    declare(sum_, "sum", 1);
  }
  Launch configure(Launch) override { return {1, 1, 1}; }
  void begin() const override {}
  void accumulate() const override {}
  Buffer sums() const override { return buffer_of(sum_.data(), 1); }
  void update() const override {}
  [[nodiscard]] bool can_connect() const override { return given_ != nullptr; }
  void connect(const DeviceView& view) override { *given_ = view; }

 private:
  std::optional<DeviceView>* given_;
  host::Array<double> sum_;
};

TEST(Drivers, KernelsAddOverShardsWhereVariantAndEngineCan) {
  Runtime& runtime = tests::runtime();
  constexpr int steps = 3;
  const auto solve_with = [&](int devices, std::size_t offered, std::optional<DeviceView>* given) {
    const Partition world = partition(rows, devices);
    const std::vector<Shard> shards = local_shards(world, runtime.devices(DeviceKind::host, devices));
    Offering communicator(offered);
    Outputs outputs;
    const auto prepared =
        solve(Context{runtime, shards, world, communicator, outputs, 2000}, steps, [&](const Shard& shard) {
          return std::make_unique<Asking>(Context{runtime, shards, world, communicator, outputs, 2000}, shard,
                                          given == nullptr ? nullptr : given + shard.index);
        });
    prepared->configure({});
    Stages stages;
    prepared->compute(stages);
    prepared->fence();
    return communicator.all_reduces;
  };
  std::array<std::optional<DeviceView>, 2> given;
  EXPECT_EQ(solve_with(2, 2, given.data()), 0);
  ASSERT_TRUE(given[0] && given[1]);
  EXPECT_EQ(given[0]->self, 0);
  EXPECT_EQ(given[1]->self, 1);
  EXPECT_EQ(solve_with(2, 2, nullptr), steps) << "the variant's kernels cannot";
  given = {};
  EXPECT_EQ(solve_with(2, 0, given.data()), steps) << "the engine cannot";
  EXPECT_FALSE(given[0] || given[1]);
  EXPECT_EQ(solve_with(1, 2, given.data()), 0);
  EXPECT_FALSE(given[0]) << "there is nothing to add";
}

/// Declares arrays and does nothing else.
class Holder final : public IndependentShard {
 public:
  Holder(const Context& context, const Shard& shard, std::int64_t scratch)
      : IndependentShard(context, shard), scratch_size_(scratch) {
    declare(first_, "first", 100);
    declare_zeroed(second_, "second", 30);
  }
  Launch configure(Launch launch) override {
    declare(scratch_, "scratch", launch.league > 0 ? launch.league : scratch_size_);
    return {1, 1, 1};
  }
  void compute(Stages&) override {}
  [[nodiscard]] bool has_memory() const { return first_.size() > 0; }
  host::Array<double> first_;
  host::Array<std::int32_t> second_;
  host::Array<std::uint8_t> scratch_;

 private:
  std::int64_t scratch_size_;
};

TEST(Ledger, SumsWhatIsReallyAllocated) {
  Runtime& runtime = tests::runtime();
  const Partition world = partition(rows, 1);
  const std::vector<Shard> shards = local_shards(world, runtime.devices(DeviceKind::host, 1));
  const auto communicator = make_communicator(runtime, shards, world);
  Outputs outputs;
  tests::Heap heap;
  {
    Holder* holder = nullptr;
    const auto prepared = split(Context{runtime, shards, world, *communicator, outputs, 2000}, [&](const Shard& shard) {
      auto made = std::make_unique<Holder>(Context{runtime, shards, world, *communicator, outputs, 2000}, shard, 40);
      holder = made.get();
      return made;
    });
    EXPECT_EQ(prepared->device_bytes(), 100 * 8 + 30 * 4);
    EXPECT_EQ(heap.bytes, 0) << "declared, not taken";
    EXPECT_FALSE(holder->has_memory());
    prepared->configure({});
    EXPECT_EQ(prepared->device_bytes(), 100 * 8 + 30 * 4 + 40);
    EXPECT_EQ(heap.bytes, prepared->device_bytes());
    EXPECT_EQ(std::accumulate(holder->second_.data(), holder->second_.data() + 30, 0), 0);
    const double* kept = holder->first_.data();
    prepared->configure({.league = 900});
    EXPECT_EQ(heap.bytes, prepared->device_bytes()) << "the launch's array has another size, the others stay";
    EXPECT_EQ(holder->first_.data(), kept);
    EXPECT_EQ(heap.max_bytes, heap.bytes) << "the old one went before the new one came";
    try {
      prepared->configure({.league = 1081});
      FAIL() << "more than the budget";
    } catch (const Unsupported& refused) {
      EXPECT_STREQ(refused.what(), "needs 2 KB, budget 2 KB");
    }
  }
  EXPECT_EQ(heap.bytes, 0);
}

}  // namespace
}  // namespace league
