// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <ostream>

#include "algorithms/generate.hpp"
#include "backends/communicator.hpp"
#include "tests/exchange_probe.hpp"
#include "tests/runtime.hpp"

// Communicators against sums in a plain loop: on host devices everywhere, on GPUs where there are two.
namespace league::tests {

MakeExchangeProbe& exchange_probe_on_gpu() {
  static MakeExchangeProbe make = nullptr;
  return make;
}

namespace {

constexpr std::int64_t rounds = 7;  // odd: each round comes at both parities of an exchange

class HostProbe final : public ExchangeProbe {
 public:
  HostProbe(const Rounds& sent, const Rounds& expected, double tolerance)
      : sent_(sent), expected_(expected), tolerance_(tolerance), values_(static_cast<std::size_t>(sent.size)) {}
  [[nodiscard]] std::span<double> values() override { return values_; }
  void fill() override { std::copy_n(sent_.values.begin() + offset(), sent_.size, values_.begin()); }
  void compare() override {
    for (std::size_t i = 0; i < values_.size(); ++i)
      if (!(std::abs(values_[i] - expected_.values[static_cast<std::size_t>(offset()) + i]) <= tolerance_)) ++wrong_;
    ++round_;
  }
  [[nodiscard]] std::int64_t wrong() override { return wrong_; }
  [[nodiscard]] std::vector<double> read() override { return values_; }

 private:
  [[nodiscard]] std::int64_t offset() const { return round_ % sent_.count * sent_.size; }
  Rounds sent_, expected_;
  double tolerance_;
  std::vector<double> values_;
  std::int64_t round_ = 0, wrong_ = 0;
};

/// Values of very different magnitudes: another order of adding them shows.
Rounds sent_by(std::size_t shard, std::int64_t size) {
  Rounds sent{rounds, size, std::vector<double>(static_cast<std::size_t>(rounds * size))};
  for (std::size_t i = 0; i < sent.values.size(); ++i) {
    constexpr std::array scales{1.0, 1e-3, 1e3, 1e-6, 1e6};
    sent.values[i] = random_value<double>(1, shard, i) * scales[(shard + i) % scales.size()];
  }
  return sent;
}

std::vector<double> first_round(const Rounds& all) {
  return {all.values.begin(), all.values.begin() + static_cast<std::ptrdiff_t>(all.size)};
}

/// The sums over the shards, added in their order; and the largest sum of magnitudes.
struct Expected {
  Rounds sums;
  double magnitude = 0;
};
Expected expected_of(const std::vector<Rounds>& sent) {
  Expected expected{sent.front()};
  for (std::size_t i = 0; i < expected.sums.values.size(); ++i) {
    double sum = 0, magnitude = 0;
    for (const Rounds& one : sent) sum += one.values[i], magnitude += std::abs(one.values[i]);
    expected.sums.values[i] = sum;
    expected.magnitude = std::max(expected.magnitude, magnitude);
  }
  return expected;
}

struct Setting {
  std::string engine;
  DeviceKind kind;
  int devices;
};
std::ostream& operator<<(std::ostream& out, const Setting& setting) {
  return out << setting.engine << "_on_" << setting.devices << (setting.kind == DeviceKind::gpu ? "_gpus" : "_hosts");
}

class Communication : public ::testing::TestWithParam<Setting> {
 protected:
  void SetUp() override {
    const Setting& setting = GetParam();
    if (setting.kind == DeviceKind::gpu && setting.devices > static_cast<int>(runtime_.gpus().size()))
      GTEST_SKIP() << "needs " << setting.devices << " GPUs, " << runtime_.gpus().size() << " here";
    if (setting.kind == DeviceKind::gpu && exchange_probe_on_gpu() == nullptr)
      GTEST_SKIP() << "this build has no probe for its GPUs";
    std::int64_t row = 0;
    for (const Device& device : runtime_.devices(setting.kind, setting.devices)) {
      shards_.push_back({device, {row, row + 1}});
      queues_.push_back(&runtime_.queue(device));
      ++row;
    }
    try {
      communicator_ = make_communicator(runtime_, shards_, setting.engine);
    } catch (const Unsupported& reason) {
      GTEST_SKIP() << reason.what();
    }
  }

  /// One probe a shard, and room for their sums.
  void prepare(std::int64_t size) {
    std::vector<Rounds> sent;
    for (std::size_t shard = 0; shard < shards_.size(); ++shard) sent.push_back(sent_by(shard, size));
    const Expected expected = expected_of(sent);
    // The local engines add in shard order and owe every bit. Another order changes each addition by half an epsilon.
    const double additions = static_cast<double>(shards_.size() - 1);
    const double tolerance =
        GetParam().engine != "nccl" ? 0 : additions * std::numeric_limits<double>::epsilon() * expected.magnitude;
    probes_.clear();
    for (std::size_t shard = 0; shard < shards_.size(); ++shard)
      probes_.push_back(make_probe(*queues_[shard], sent[shard], expected.sums, tolerance));
    communicator_->reserve(size);
  }

  void sum_once() {
    std::vector<std::span<double>> buffers;
    for (const auto& probe : probes_) {
      probe->fill();
      buffers.push_back(probe->values());
    }
    communicator_->sum(buffers);
    for (const auto& probe : probes_) probe->compare();
  }

  void expect_right(const std::string& what) {
    for (std::size_t shard = 0; shard < probes_.size(); ++shard)
      EXPECT_EQ(probes_[shard]->wrong(), 0) << what << ", shard " << shard;
  }

  static std::unique_ptr<ExchangeProbe> make_probe(Queue& queue, const Rounds& sent, const Rounds& expected,
                                                   double tolerance) {
    if (queue.device().kind == DeviceKind::gpu) return exchange_probe_on_gpu()(queue, sent, expected, tolerance);
    return std::make_unique<HostProbe>(sent, expected, tolerance);
  }

  Runtime& runtime_ = tests::runtime();
  std::vector<Shard> shards_;
  std::vector<Queue*> queues_;
  std::unique_ptr<Communicator> communicator_;
  std::vector<std::unique_ptr<ExchangeProbe>> probes_;
};

TEST_P(Communication, AddsOverAllShardsInEveryBuffer) {
  for (const std::int64_t size : {1, 16, 513, 7850}) {
    prepare(size);
    for (int i = 0; i < 20; ++i) sum_once();
    expect_right(std::to_string(size) + " values");
  }
}

TEST_P(Communication, AddsThousandsOfTimesInARow) {
  prepare(16);
  for (int i = 0; i < 5000; ++i) sum_once();
  expect_right("16 values");
  prepare(600);
  for (int i = 0; i < 2000; ++i) sum_once();
  expect_right("600 values");
}

TEST_P(Communication, AddsInRecordedWork) {
  for (const std::int64_t size : {1, 16, 7850}) {
    prepare(size);
    sum_once();
    for (Queue* queue : queues_) queue->fence();
    const auto graph = runtime_.record(queues_, [&] {
      for (int step = 0; step < 51; ++step) sum_once();
    });
    for (int i = 0; i < 20; ++i) graph->launch();
    sum_once();
    graph->launch();
    expect_right(std::to_string(size) + " values");
  }
}

TEST_P(Communication, FindsWhatIsWrong) {
  prepare(16);
  for (const auto& probe : probes_) {
    probe->fill();
    probe->compare();  // without a sum
    EXPECT_EQ(probe->wrong() > 0, shards_.size() > 1);
  }
}

TEST_P(Communication, GathersPiecesOnTheFirstDevice) {
  constexpr std::int64_t largest = 513;
  using Sizes = std::vector<std::int64_t>;
  for (const Sizes& sizes : {Sizes{3, 5, 7, 2}, Sizes{0, 4, 0, 1}, Sizes{largest, 0, 1, 9}, Sizes{0, 0, 0, 0}}) {
    prepare(largest);
    std::vector<std::span<const std::byte>> pieces;
    std::vector<double> expected;
    for (std::size_t shard = 0; shard < shards_.size(); ++shard) {
      probes_[shard]->fill();
      std::copy_n(sent_by(shard, largest).values.begin(), sizes[shard], std::back_inserter(expected));
      pieces.push_back(std::as_bytes(probes_[shard]->values().first(static_cast<std::size_t>(sizes[shard]))));
    }
    const Rounds nothing{1, static_cast<std::int64_t>(expected.size()), std::vector<double>(expected.size())};
    const auto whole = make_probe(*queues_.front(), nothing, nothing, 0);
    if (shards_.size() == 1) {  // one shard gathers where its piece lies
      communicator_->gather(pieces, std::as_writable_bytes(probes_.front()->values().first(expected.size())));
      EXPECT_EQ(probes_.front()->read(), first_round(sent_by(0, largest)));
    } else {
      communicator_->gather(pieces, std::as_writable_bytes(whole->values()));
      EXPECT_EQ(whole->read(), expected);
    }
  }
}

TEST_P(Communication, GathersBeforePiecesAreOverwritten) {
  if (shards_.size() == 1) GTEST_SKIP() << "one shard gathers where its piece lies";
  constexpr std::int64_t size = 20'000;
  const auto shards = static_cast<std::int64_t>(shards_.size());
  prepare(size);
  Rounds expected{rounds, shards * size, {}};
  for (std::int64_t round = 0; round < rounds; ++round)
    for (std::size_t shard = 0; shard < shards_.size(); ++shard)
      std::copy_n(sent_by(shard, size).values.begin() + round * size, size, std::back_inserter(expected.values));
  const auto whole = make_probe(*queues_.front(), expected, expected, 0);
  for (int i = 0; i < 500; ++i) {
    std::vector<std::span<const std::byte>> pieces;
    for (const auto& probe : probes_) {
      probe->fill();
      pieces.push_back(std::as_bytes(probe->values()));
    }
    communicator_->gather(pieces, std::as_writable_bytes(whole->values()));
    for (const auto& probe : probes_) probe->compare();  // the next round
    whole->compare();
  }
  EXPECT_EQ(whole->wrong(), 0);
}

INSTANTIATE_TEST_SUITE_P(Engines, Communication,
                         ::testing::Values(Setting{"local", DeviceKind::host, 1}, Setting{"local", DeviceKind::host, 2},
                                           Setting{"local", DeviceKind::host, 3}, Setting{"local", DeviceKind::gpu, 1},
                                           Setting{"local", DeviceKind::gpu, 2}, Setting{"local", DeviceKind::gpu, 4},
                                           Setting{"local_serialized", DeviceKind::gpu, 2},
                                           Setting{"local_serialized", DeviceKind::gpu, 4},
                                           Setting{"nccl", DeviceKind::gpu, 2}, Setting{"nccl", DeviceKind::gpu, 4}),
                         ::testing::PrintToStringParamName());

TEST(Communicator, EnginesBelongToAKindOfDevice) {
  const std::vector<Shard> two{{{DeviceKind::host, 0, 1}, {0, 1}}, {{DeviceKind::host, 1, 1}, {1, 2}}};
  for (const char* engine : {"nccl", "smoke_signals"}) try {
      make_communicator(runtime(), two, engine);
      FAIL() << engine;
    } catch (const Unsupported& reason) {
      EXPECT_EQ(reason.what(), "no communicator '" + std::string(engine) + "' between host devices in this build");
    }
  EXPECT_NE(make_communicator(runtime(), std::span(two).first(1), "nccl"), nullptr) << "one shard needs none";
}

}  // namespace
}  // namespace league::tests
