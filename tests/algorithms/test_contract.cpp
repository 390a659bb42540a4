// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "algorithms/contract/partition.hpp"
#include "algorithms/contract/prepared.hpp"
#include "algorithms/oracle/generate.hpp"
#include "tests/runtime.hpp"

// A minimal implementation of the contract: gradient descent on several host devices, with state, steps, a sum over
// shards, a stop test on the device, reset and stages.
namespace league {
namespace {

constexpr std::int64_t n = 101;
constexpr double rate = 0.5;

double x_at(std::int64_t row) { return random_value<double>(7, 0, static_cast<std::uint64_t>(row)); }
double y_at(std::int64_t row) { return 0.7 * x_at(row) + 0.3; }

/// Fits y = w x + b by gradient descent on the mean squared error; stops after a step whose gradient is below
/// `tolerance`.
class Descent final : public Prepared {
 public:
  Descent(const Context& context, int steps, double tolerance)
      : context_(context), steps_(steps), tolerance_(tolerance), states_(context.shards.size()) {}
  Launch configure(Launch) override { return {1, 1, 1}; }
  void upload() override {
    for (std::size_t i = 0; i < states_.size(); ++i) {
      states_[i].x.clear();
      for (std::int64_t row = shard(i).rows.begin; row < shard(i).rows.end; ++row)
        states_[i].x.push_back({x_at(row), y_at(row)});
    }
  }
  void reset() override {
    for (State& state : states_) state.theta = {}, state.stop = false, state.taken = 0;
    context_.outputs[0].values.values<double>()[0] = std::nan("");
  }
  void compute(Stages& stages) override {
    for (int step = 0; step < steps_; ++step) {
      std::vector<Buffer> sums;
      for (std::size_t i = 0; i < states_.size(); ++i) {
        stages.stage(queue(i), "gradient", [&] { gradient(states_[i]); });
        sums.push_back(buffer_of(states_[i].gradient.data(), 2));
      }
      context_.communicator.all_reduce(sums, Order::ordered);
      for (std::size_t i = 0; i < states_.size(); ++i) stages.stage(queue(i), "update", [&] { update(states_[i]); });
    }
  }
  void download() override {
    context_.outputs[0].values.values<double>()[0] = states_[0].theta[0];
    context_.outputs[0].values.values<double>()[1] = states_[0].theta[1];
    context_.outputs[1].values.values<std::int64_t>()[0] = states_[0].taken;
  }
  void fence() override {
    for (std::size_t i = 0; i < states_.size(); ++i) queue(i).fence();
  }

 private:
  struct State {
    std::vector<std::array<double, 2>> x;
    std::array<double, 2> theta{}, gradient{};
    bool stop = false;
    std::int64_t taken = 0;
  };
  [[nodiscard]] const Shard& shard(std::size_t i) const { return context_.shards[i]; }
  [[nodiscard]] Queue& queue(std::size_t i) const { return context_.runtime.queue(shard(i).device); }

  static void gradient(State& state) {
    state.gradient = {};
    for (const auto& [x, y] : state.x) {
      const double error = state.theta[0] * x + state.theta[1] - y;
      state.gradient[0] += error * x;
      state.gradient[1] += error;
    }
  }
  void update(State& state) const {
    if (state.stop) return;
    const double scale = rate / static_cast<double>(n);
    state.theta[0] -= scale * state.gradient[0];
    state.theta[1] -= scale * state.gradient[1];
    state.stop = std::hypot(state.gradient[0], state.gradient[1]) / static_cast<double>(n) < tolerance_;
    ++state.taken;
  }

  Context context_;
  int steps_;
  double tolerance_;
  std::vector<State> states_;
};

class CountingStages final : public Stages {
 public:
  int begun = 0, ended = 0;

 protected:
  void begin(Queue&, const char*) override { ++begun; }
  void end(Queue&, const char*) override { ++ended; }
};

struct Probe {
  explicit Probe(int devices) {
    world = partition(n, devices);
    shards = local_shards(world, runtime.devices(DeviceKind::host, devices));
    communicator = make_communicator(runtime, shards, world);
    communicator->reserve(2 * sizeof(double));
  }
  std::array<double, 3> solve(Descent& descent, Stages& stages) {
    descent.reset();
    descent.compute(stages);
    descent.download();
    descent.fence();
    const auto theta = outputs[0].values.values<const double>();
    return {theta[0], theta[1], static_cast<double>(outputs[1].values.values<const std::int64_t>()[0])};
  }
  [[nodiscard]] Descent prepare(int steps, double tolerance = 0) {
    return Descent({runtime, shards, world, *communicator, outputs, 0}, steps, tolerance);
  }

  Runtime& runtime = tests::runtime();
  Partition world;
  std::vector<Shard> shards;
  Outputs outputs{{"theta", HostArray(runtime.host_memory(), Dtype::f64, {2}), {0, 2}},
                  {"steps", HostArray(runtime.host_memory(), Dtype::i64, {1}), {0, 1}}};
  std::unique_ptr<Communicator> communicator;
};

/// The same descent in one loop.
std::array<double, 2> oracle(int steps) {
  std::array<double, 2> theta{};
  for (int step = 0; step < steps; ++step) {
    std::array<double, 2> gradient{};
    for (std::int64_t row = 0; row < n; ++row) {
      const double error = theta[0] * x_at(row) + theta[1] - y_at(row);
      gradient[0] += error * x_at(row);
      gradient[1] += error;
    }
    for (std::size_t i = 0; i < 2; ++i) theta[i] -= rate / static_cast<double>(n) * gradient[i];
  }
  return theta;
}

TEST(Contract, CarriesStateAndSumsOverThreeDevices) {
  Probe probe(3);
  Descent descent = probe.prepare(10);
  descent.configure({});
  descent.upload();
  CountingStages stages;
  const auto solved = probe.solve(descent, stages);
  const auto expected = oracle(10);
  EXPECT_NEAR(solved[0], expected[0], 1e-14);
  EXPECT_NEAR(solved[1], expected[1], 1e-14);
  EXPECT_EQ(solved[2], 10);
  EXPECT_EQ(stages.begun, 10 * 2 * 3);
  EXPECT_EQ(stages.ended, stages.begun);
}

TEST(Contract, ResetMakesSolvesRepeatable) {
  Probe probe(3);
  Descent descent = probe.prepare(10);
  descent.upload();
  CountingStages stages;
  const auto first = probe.solve(descent, stages);
  EXPECT_EQ(first, probe.solve(descent, stages));
}

TEST(Contract, StopFlagEndsTheStepsWithoutTheHost) {
  Probe probe(3);
  Descent descent = probe.prepare(500, 0.05);
  descent.upload();
  CountingStages stages;
  const auto solved = probe.solve(descent, stages);
  EXPECT_LT(solved[2], 500);
  EXPECT_GT(solved[2], 1);
  const auto expected = oracle(static_cast<int>(solved[2]));
  EXPECT_NEAR(solved[0], expected[0], 1e-14);
}

TEST(Contract, MoreDevicesThanRowsLeaveEmptyShards) {
  Probe one(1), many(120);
  Descent alone = one.prepare(10), spread = many.prepare(10);
  alone.upload();
  spread.upload();
  CountingStages stages;
  const auto expected = one.solve(alone, stages), got = many.solve(spread, stages);
  EXPECT_NEAR(got[0], expected[0], 1e-14);
  EXPECT_NEAR(got[1], expected[1], 1e-14);
}

}  // namespace
}  // namespace league
