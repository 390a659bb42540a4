// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "algorithms/drivers/one_pass.hpp"
#include "backends/host_pass.hpp"
#include "backends/model.hpp"
#include "bench/errors.hpp"
#include "bench/measure/comparison.hpp"
#include "bench/measure/interval.hpp"
#include "bench/measure/null_test.hpp"
#include "bench/record/record.hpp"
#include "bench/study/study.hpp"
#include "tests/algorithms/axpy/axpy.hpp"
#include "tests/bench/temporary.hpp"
#include "tests/runtime.hpp"

// Cases that are sampled at several placements of their arrays: forced on a host, where none is by itself.
namespace league::bench {
namespace {

/// A model of this file alone, whose kernel tells where its results lie, and can be wrong at all placements but two.
constexpr Model marble{"marble", "serial", DeviceKind::host};
const RegisterModel model{{.name = "marble", .order = 92, .expected = false}};
std::set<const float*> seen;
std::vector<const float*> sequence;  ///< without repetitions
bool wrong_elsewhere = false;

void axpy(const serial::Pass& on, const float* x, const float* y, float* sum) {
  seen.insert(sum);
  if (sequence.empty() || sequence.back() != sum) sequence.push_back(sum);
  const float factor = wrong_elsewhere && seen.size() > 2 ? 3 : 2;
  for (std::int64_t i = 0; i < on.size(); ++i) sum[i] = factor * x[i] + y[i];
}
const OnePass<Axpy> plain{"plain", marble, {"x", "y", "sum"}, kernel("axpy", axpy)};

class Placements : public ::testing::Test {
 protected:
  void SetUp() override {
    seen.clear();
    sequence.clear();
    wrong_elsewhere = false;
  }
  Study read(const std::string& more) {
    const std::string head = "algorithm = \"axpy\"\nmodels = \"marble\"\nsizes = " + std::to_string(rows_) + "\n";
    return read_study(folder_.write("study.toml", head + more), {}, tests::runtime(), datasets_);
  }
  std::vector<Result> run(const std::string& more, bool null_test = false) {
    Study study = read(more);
    if (null_test) add_null_tests(study);
    Sampler sampler;
    return run_comparison(study.comparisons.front(), {.runtime = tests::runtime(),
                                                      .datasets = datasets_,
                                                      .sampler = sampler,
                                                      .device_memory_bytes = std::int64_t{1} << 30,
                                                      .check_interrupt = [] {},
                                                      .announce = [](const Case&, const std::string&) {},
                                                      .save = [](const Case&, const Problem&, const Outputs&) {}});
  }

  int rows_ = 1001;
  tests::TemporaryFolder folder_;
  Datasets datasets_{{}, tests::runtime().host_memory()};
};

TEST_F(Placements, AreDistinctAndTakenInTurn) {
  const std::vector<Result> results = run("placements = 4\nsamples = 10\n");
  ASSERT_EQ(results.front().status, Status::passed) << results.front().reason;
  EXPECT_EQ(seen.size(), 4U);
  const Json row = to_json(results.front());
  EXPECT_EQ(row.at("samples").size(), 10U);
  EXPECT_EQ(row.at("placements").dump(), "[0,1,2,3,0,1,2,3,0,1]");
  // Each is prepared after the last; then come ten samples; the checks after them run the first placement only.
  ASSERT_EQ(sequence.size(), 4U + 10U + 1U);
  for (std::size_t i = 4; i < 14; ++i) EXPECT_EQ(sequence[i], sequence[(i - 4) % 4]) << i;
  EXPECT_EQ(sequence.back(), sequence.front());
}

TEST_F(Placements, NullTestsHaveTheSame) {
  const std::vector<Result> results = run("placements = 3\nsamples = 7\n", true);
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(seen.size(), 6U);
  for (const Result& result : results) {
    EXPECT_EQ(result.status, Status::passed) << result.reason;
    EXPECT_EQ(result.placements, 3);
  }
}

TEST_F(Placements, AreAllChecked) {
  wrong_elsewhere = true;
  EXPECT_EQ(run("placements = 2\nsamples = 4\n").front().status, Status::passed);
  seen.clear();
  const std::vector<Result> results = run("placements = 3\nsamples = 4\n");
  EXPECT_EQ(results.front().status, Status::failed);
  EXPECT_TRUE(results.front().reason.starts_with("wrong at another placement of its arrays, before sampling"))
      << results.front().reason;
  EXPECT_TRUE(results.front().samples.empty());
}

TEST_F(Placements, AreOneWithoutAReasonForMore) {
  for (const char* more : {"samples = 6\n", "placements = \"auto\"\nsamples = 6\n", "placements = 1\nsamples = 6\n",
                           "placements = 4\nsamples = 1\n", "placements = 4\nsamples = 6\ndevices = 2\n"}) {
    const std::vector<Result> results = run(more);
    EXPECT_EQ(results.front().status, Status::passed) << more << results.front().reason;
    EXPECT_EQ(results.front().placements, 1) << more;
    EXPECT_FALSE(to_json(results.front()).contains("placements")) << more;
  }
}

TEST_F(Placements, ProblemsWithoutRowsAndWithOneRun) {
  for (const int rows : {0, 1}) {
    rows_ = rows;
    const std::vector<Result> results = run("placements = 2\nsamples = 4\n");
    EXPECT_EQ(results.front().status, Status::passed) << results.front().reason;
    EXPECT_EQ(results.front().placements, 2);
  }
}

TEST_F(Placements, MayBeSampledUntilTheyAreQuiet) {
  const Result result = run("placements = 3\nsamples = \"auto\"\nmax_noise = 1\n").front();
  EXPECT_EQ(result.status, Status::passed) << result.reason;
  EXPECT_EQ(result.stopped, Stopping::Reason::noise);
  const Json row = to_json(result);
  EXPECT_EQ(row.at("placements").size(), result.samples.size());
  EXPECT_EQ(row.at("placements").at(4), 1) << "they go on in turn from batch to batch";
}

TEST_F(Placements, AStudyNamesANumber) {
  EXPECT_EQ(read("").comparisons[0].cases[0].placements, 0);
  EXPECT_EQ(read("placements = \"auto\"").comparisons[0].cases[0].placements, 0);
  EXPECT_EQ(read("placements = 5").comparisons[0].cases[0].placements, 5);
  for (const char* wrong : {"placements = 0", "placements = 65", "placements = \"many\"", "placements = true"})
    EXPECT_THROW(read(wrong), BadInput) << wrong;
}

TEST(Intervals, StudentsQuantilesAreThoseOfTables) {
  for (const auto& [freedom, quantile] : {std::pair(1, 12.706), {2, 4.303}, {3, 3.182}, {5, 2.571}, {29, 2.045}})
    EXPECT_NEAR(student_quantile(freedom), quantile, 6e-4) << freedom;
}

TEST(Intervals, CoverWhatDiffersBetweenPlacements) {
  std::vector<double> samples;
  for (int i = 0; i < 21; ++i) samples.push_back(std::exp(0.01 * placement_of(i, 3)));
  const Interval alone = median_interval(samples), placed = median_interval(samples, 3);
  EXPECT_DOUBLE_EQ(alone.low, std::exp(0.0));
  EXPECT_DOUBLE_EQ(alone.high, std::exp(0.02));
  // Student's: 0.01 +- 4.303 * 0.01 / sqrt(3)
  EXPECT_NEAR(std::log(placed.low), 0.01 - 0.024841, 1e-5);
  EXPECT_NEAR(std::log(placed.high), 0.01 + 0.024841, 1e-5);
  EXPECT_NEAR(noise_within(samples, 3), 0, 1e-12);
  EXPECT_GT(relative_noise(samples, 3), relative_noise(samples));
  EXPECT_EQ(relative_noise({2.0}, 6), 0) << "one sample of one placement";
}

TEST(Stopping, EndsWhereOnlyThePlacementsDiffer) {
  std::vector<Drawn> drawn{{.samples = {}, .error = {}, .placements = 3}, {.samples = {}, .error = {}}};
  Stopping stopping(Precision{.max_noise = 0.01, .time_limit_s = 100});
  int all = 0;
  while (const int more = stopping.next(drawn, all * 1e-6)) {
    for (int i = all; i < all + more; ++i) {
      drawn[0].samples.push_back(1e-6 * (1 + 0.03 * placement_of(i, 3)));
      drawn[1].samples.push_back(1e-6);
    }
    all += more;
  }
  EXPECT_EQ(all, 10);
  EXPECT_EQ(stopping.reason(), Stopping::Reason::placements);
}

}  // namespace
}  // namespace league::bench
