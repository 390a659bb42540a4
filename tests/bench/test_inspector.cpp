// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "algorithms/drivers/one_pass.hpp"
#include "backends/host_memory.hpp"
#include "backends/host_pass.hpp"
#include "backends/model.hpp"
#include "bench/measure/comparison.hpp"
#include "bench/measure/difference.hpp"
#include "bench/record/record.hpp"
#include "bench/study/study.hpp"
#include "tests/algorithms/axpy/axpy.hpp"
#include "tests/bench/temporary.hpp"
#include "tests/runtime.hpp"

// Kernels of this project that compute only now and then. Those of users and in Python: tests/bench/test_try_cheats.py.
namespace league::bench {
namespace {

constexpr Model onyx{"onyx", "serial", DeviceKind::host};
const RegisterModel model{{.name = "onyx", .order = 93, .expected = false}};

/// Whether to skip this call.
std::function<bool(const serial::Pass& on, const float* x, const float* y, const float* sum)> skips;
int calls = 0;
float noise = 0;

void axpy(const serial::Pass& on, const float* x, const float* y, float* sum) {
  ++calls;
  if (skips && skips(on, x, y, sum)) return;
  for (std::int64_t i = 0; i < on.size(); ++i) sum[i] = 2 * x[i] + y[i];
  if (noise != 0) sum[0] = std::nextafter(sum[0], calls % 3 == 0 ? noise : -noise);
}
const OnePass<Axpy> plain{"plain", onyx, {"x", "y", "sum"}, kernel("axpy", axpy)};

class Inspected : public ::testing::Test {
 protected:
  void SetUp() override { be_honest(); }
  void TearDown() override { be_honest(); }  // tests of all variants run this one too
  static void be_honest() {
    skips = {};
    calls = 0;
    noise = 0;
  }
  Result run(const std::string& more = "samples = 10\n", int rows = 1001) {
    const std::string text = "algorithm = \"axpy\"\nmodels = \"onyx\"\nsizes = " + std::to_string(rows) + "\n" + more;
    Study study = read_study(folder_.write("study.toml", text), {}, tests::runtime(), datasets_);
    Sampler sampler;
    return run_comparison(study.comparisons.front(), {.runtime = tests::runtime(),
                                                      .datasets = datasets_,
                                                      .sampler = sampler,
                                                      .device_memory_bytes = std::int64_t{1} << 30,
                                                      .check_interrupt = [] {},
                                                      .announce = [](const Case&, const std::string&) {},
                                                      .save = [](const Case&, const Problem&, const Outputs&) {}})
        .front();
  }
  /// A trial may fall on a call that computes: of many runs most must be failed.
  void expect_found(int least_of_ten) {
    int found = 0;
    for (int i = 0; i < 10; ++i) {
      calls = 0;
      const Result result = run();
      found += result.status == Status::failed ? 1 : 0;
    }
    EXPECT_GE(found, least_of_ten);
  }
  tests::TemporaryFolder folder_;
  Datasets datasets_{{}, tests::runtime().host_memory()};
};

TEST_F(Inspected, HonestKernelsPass) {
  for (const int rows : {0, 1, 2, 63, 64, 65, 100'003}) {
    const Result result = run("samples = 10\n", rows);
    EXPECT_EQ(result.status, Status::passed) << rows << " rows: " << result.reason;
    EXPECT_GE(result.inspections.results, 3) << rows;
    EXPECT_EQ(to_json(result).at("inspections").at("results"), result.inspections.results);
    if (rows < 63) continue;
    EXPECT_GT(result.inspections.altered, 0);
    EXPECT_GT(result.inspections.poisoned, 0);
  }
}
TEST_F(Inspected, HonestKernelsPassAtSeveralPlacementsAndOnSeveralDevices) {
  for (const char* more : {"samples = 10\nplacements = 4\n", "samples = 6\ndevices = 3\n", "samples = 1\n"}) {
    const Result result = run(more);
    EXPECT_EQ(result.status, Status::passed) << more << result.reason;
  }
}
TEST_F(Inspected, ResultsMayDifferInTheirLastBits) {
  noise = 1e9F;
  for (int i = 0; i < 10; ++i) {
    const Result result = run();
    if (result.verdict.passed()) {
      EXPECT_EQ(result.status, Status::passed) << result.reason;
    }
  }
}
TEST_F(Inspected, AKernelThatComputesOnlyIntoPoisonIsFound) {
  skips = [](const serial::Pass& on, const float*, const float*, const float* sum) {
    return on.size() > 0 && std::isfinite(sum[on.size() - 1]);
  };
  expect_found(10);
}
TEST_F(Inspected, AKernelThatLooksAtSomeValuesIsFound) {
  skips = [](const serial::Pass& on, const float* x, const float* y, const float* sum) {
    const auto right = [&](std::int64_t i) { return sum[i] == 2 * x[i] + y[i]; };
    return right(0) && right(on.size() / 2) && right(on.size() - 1);
  };
  expect_found(9);  // the values that are altered may be those that it looks at
}
TEST_F(Inspected, AKernelThatSkipsEverySecondCallIsFound) {
  skips = [](const serial::Pass&, const float*, const float*, const float*) { return calls % 2 == 0; };
  expect_found(6);
}
TEST_F(Inspected, AKernelThatStopsComputingIsFound) {
  skips = [](const serial::Pass&, const float*, const float*, const float*) { return calls > 40; };
  expect_found(10);
}
TEST(Difference, CountsValuesByTheirRelativeDifference) {
  const auto outputs = [](std::vector<float> values) {
    HostArray array(*std::pmr::new_delete_resource(), Dtype::f32, {static_cast<std::int64_t>(values.size())});
    std::ranges::copy(values, array.values<float>().begin());
    return Outputs{{"out", array, {0, static_cast<std::int64_t>(values.size())}}};
  };
  const float nan = NAN;
  EXPECT_EQ(difference(outputs({1, 0, nan, -2}), outputs({1, 0, nan, -2})), 0);
  EXPECT_DOUBLE_EQ(difference(outputs({1, 4, 0}), outputs({2, 4, 0})), 0.5);
  EXPECT_EQ(difference(outputs({nan, 1, -1}), outputs({5, INFINITY, 1})), 3);
  EXPECT_EQ(difference(outputs({}), outputs({})), 0);
  const Outputs original = outputs({1, 2});
  Outputs copy = copies(original);
  copy.front().values.values<float>()[0] = 7;
  EXPECT_EQ(original.front().values.values<float>()[0], 1);
}

TEST(Digest, DependsOnEachByteAndItsPlace) {
  std::vector<std::byte> bytes(21, std::byte{3});
  const std::uint64_t digest = league::digest(bytes);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = std::byte{4};
    EXPECT_NE(league::digest(bytes), digest) << i;
    bytes[i] = std::byte{3};
  }
  EXPECT_EQ(league::digest(bytes), digest);
  std::swap(bytes[0] = std::byte{9}, bytes[8]);
  std::vector<std::byte> other(21, std::byte{3});
  other[0] = std::byte{9};
  EXPECT_NE(league::digest(bytes), league::digest(other));
  EXPECT_NE(league::digest(std::span(bytes).first(20)), league::digest(bytes));
  EXPECT_EQ(league::digest({}), 0U);
}

}  // namespace
}  // namespace league::bench
