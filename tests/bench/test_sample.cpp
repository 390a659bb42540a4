// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

#include "bench/sample/draw.hpp"
#include "tests/bench/program.hpp"
#include "tests/bench/temporary.hpp"

// What `league run --sample` draws, and that it tells right results from wrong ones.
namespace league::bench {
namespace {

TEST(Draw, ExtentsCoverDecadesAndTheEdgesOfTiles) {
  Random random(7, 0);
  std::set<int> decades;
  int odd = 0, powers = 0, beside_powers = 0, minima = 0;
  for (int i = 0; i < 4000; ++i) {
    const std::int64_t extent = draw_extent(random, random.real() * 20, 1, 1'000'000);
    ASSERT_GE(extent, 1);
    ASSERT_LE(extent, 1'000'000);
    const auto value = static_cast<std::uint64_t>(extent);
    decades.insert(static_cast<int>(std::to_string(extent).size()));
    odd += extent % 2 == 1 ? 1 : 0;
    minima += extent == 1 ? 1 : 0;
    powers += std::has_single_bit(value) ? 1 : 0;
    beside_powers += std::has_single_bit(value + 1) || std::has_single_bit(value - 1) ? 1 : 0;
  }
  EXPECT_EQ(decades.size(), 7U);
  for (const int count : {odd, powers, beside_powers, minima}) EXPECT_GT(count, 400);
}

TEST(Draw, TheSameSeedDrawsTheSame) {
  for (const Algorithm& algorithm : registry().algorithms) {
    Random one(3, 5), same(3, 5), other(4, 5);
    const Parameters drawn = draw_parameters(one, algorithm, 20);
    EXPECT_EQ(drawn.values, draw_parameters(same, algorithm, 20).values);
    EXPECT_EQ(draw_launch(one, DeviceKind::gpu), draw_launch(same, DeviceKind::gpu));
    std::set<std::map<std::string, std::string, std::less<>>> different{drawn.values};
    for (int i = 0; i < 20; ++i) different.insert(draw_parameters(other, algorithm, 20).values);
    EXPECT_GT(different.size(), 5U) << algorithm.name;
  }
}

TEST(Draw, ParametersAreWhatAStudyMayAskFor) {
  for (const Algorithm& algorithm : registry().algorithms) {
    Random random(11, 0);
    for (int i = 0; i < 200; ++i) {
      const Parameters drawn = draw_parameters(random, algorithm, 24);
      double elements = 1;
      for (const Parameter& parameter : algorithm.parameters) {
        const bool is_size = parameter.kind == Parameter::Kind::size;
        if (parameter.kind == Parameter::Kind::choice) {
          EXPECT_NE(std::ranges::find(parameter.choices, drawn.choice(parameter.name)), parameter.choices.end());
        }
        if (parameter.kind == Parameter::Kind::real) {
          EXPECT_TRUE(std::isfinite(drawn.real(parameter.name)));
        }
        if (!is_size && parameter.kind != Parameter::Kind::integer) continue;
        const std::int64_t value = drawn.integer(parameter.name);
        EXPECT_GE(value, parameter.min) << algorithm.name << " " << parameter.name;
        EXPECT_LE(value, parameter.max) << algorithm.name << " " << parameter.name;
        if (is_size) elements *= static_cast<double>(std::max<std::int64_t>(value, 1));
      }
      EXPECT_LT(elements, 1e8) << algorithm.name << ": about 2^24 elements, and primes a little above";
    }
  }
}

TEST(Verdict, IsIllPosedOnlyWhereNothingElseIsWrong) {
  Verdict problem, result;
  problem.fail_problem("diverged");
  EXPECT_TRUE(problem.ill_posed);
  EXPECT_FALSE(problem.passed());
  result.fail("wrong");
  Verdict after = result;
  after.fail_problem("diverged");
  EXPECT_FALSE(after.ill_posed);
  EXPECT_EQ(after.message, "wrong");
  EXPECT_FALSE((Verdict(problem) += result).ill_posed);
  EXPECT_FALSE((Verdict(result) += problem).ill_posed);
  EXPECT_TRUE((Verdict(problem) += Verdict{}).ill_posed);
  EXPECT_TRUE((Verdict{} += problem).ill_posed);
}

class SampleTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!tests::has_program("league")) GTEST_SKIP() << "no league beside this program";
  }
  tests::Outcome sample(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "run");
    return tests::run("league", arguments, folder_.path());
  }
  tests::TemporaryFolder folder_;
};

TEST_F(SampleTest, ChecksSoManyCasesAndRepeatsItself) {
  const std::vector<std::string> arguments{"--sample", "25", "--seed", "3", "--benchmark_filter=(sum|vector_add)/"};
  const tests::Outcome outcome = sample(arguments);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("seed 3: 25 cases of "), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find(" ran, 0 FAILED; "), std::string::npos) << outcome.out;
  EXPECT_EQ(sample(arguments).out, outcome.out);
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "records")) << "nothing is timed, nothing recorded";
}

TEST_F(SampleTest, SaysWhichResultsAreWrong) {
  if (!tests::has_program("league_faults")) GTEST_SKIP() << "no league_faults beside this program";
  const tests::Outcome outcome = tests::run_with_fault(
      "nothing", {"run", "--sample", "20", "--benchmark_filter=vector_add/method:plain/"}, folder_.path());
  EXPECT_EQ(outcome.code, 1) << outcome.out;
  EXPECT_NE(outcome.out.find("FAILED  vector_add/method:plain/"), std::string::npos) << outcome.out;
}

TEST_F(SampleTest, RefusesWhatItCannotDraw) {
  folder_.write("study.toml", "algorithm = \"sum\"\n");
  EXPECT_EQ(sample({"study.toml", "--sample", "5"}).code, 2);
  EXPECT_EQ(sample({"--seed", "5"}).code, 2);
  EXPECT_EQ(sample({"--sample", "0"}).code, 2);
  EXPECT_EQ(sample({}).code, 2);
  const tests::Outcome none = sample({"--sample", "5", "--benchmark_filter=nothing"});
  EXPECT_EQ(none.code, 2);
  EXPECT_NE(none.err.find("no case that runs here and matches --benchmark_filter"), std::string::npos) << none.err;
}

}  // namespace
}  // namespace league::bench
