// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <map>
#include <set>
#include <sstream>

#include "bench/errors.hpp"
#include "bench/record/record.hpp"
#include "bench/study/shapes.hpp"
#include "bench/study/study.hpp"
#include "bench/study/toml_text.hpp"
#include "tests/bench/program.hpp"
#include "tests/bench/temporary.hpp"
#include "tests/runtime.hpp"

// Studies that draw their problems: `shapes = 25`.
namespace league::bench {
namespace {

const std::string small = "algorithm = 'vector_add'\nmethods = 'plain'\nmodels = 'serial'\n";
const std::string points = "algorithm = 'distance_matrix'\nmethods = 'direct'\nmodels = 'serial'\n";

class ShapesTest : public ::testing::Test {
 protected:
  Study read(const std::string& text, const std::vector<std::string>& settings = {}) {
    std::vector<Assignment> assignments;
    for (const std::string& setting : settings) assignments.push_back(read_assignment(setting));
    return read_study(folder_.write("study.toml", text), assignments, tests::runtime(), datasets_);
  }
  /// The comparisons, without what is alike in all.
  std::vector<std::string> shapes(const std::string& text, const std::vector<std::string>& settings = {}) {
    std::vector<std::string> all;
    for (const Comparison& comparison : read(text, settings).comparisons) {
      const std::size_t first = comparison.name.find("f32/") + 4, last = comparison.name.find("/devices");
      all.push_back(comparison.name.substr(first, last - first));
    }
    return all;
  }
  std::vector<std::int64_t> extents(const std::string& text, const std::string& name) {
    std::vector<std::int64_t> all;
    for (const Comparison& comparison : read(text).comparisons)
      all.push_back(comparison.cases.front().parameters.integer(name));
    return all;
  }
  /// What the study is refused with, from the number of the line on.
  std::string refusal(const std::string& text, const std::vector<std::string>& settings = {}) {
    try {
      read(text, settings);
    } catch (const BadInput& error) {
      const std::string what = error.what(), file = (folder_.path() / "study.toml").string();
      return what.starts_with(file) ? what.substr(file.size()) : what;
    }
    return "accepted";
  }

  tests::TemporaryFolder folder_;
  Datasets datasets_{{}, tests::runtime().host_memory()};
};

/// The same on every machine: whoever changes these numbers changes all studies.
TEST_F(ShapesTest, TheSameSeedDrawsTheSame) {
  const std::string text = small + "shapes = 6\nsizes = {n = {log_uniform = [1, 20000000]}}\n";
  const std::vector<std::string> first{"n:1", "n:257", "n:284081", "n:189", "n:132651", "n:12229"};
  EXPECT_EQ(shapes(text), first);
  EXPECT_EQ(shapes(text + "seed = 1\n"), first);
  EXPECT_EQ(shapes(text + "dtypes = 'f64'\n").size(), 6U);
  const std::vector<std::string> other = shapes(text, {"seed=2"});
  EXPECT_EQ(other.size(), 6U);
  for (const std::string& shape : other) EXPECT_TRUE(shape.ends_with("/seed:2")) << shape;
  const auto numbers = [](std::vector<std::string> all) {
    for (std::string& shape : all) shape = shape.substr(0, shape.find("/seed"));
    return all;
  };
  EXPECT_NE(numbers(other), first);
  const std::vector<std::string> both = shapes(text, {"seed=1,2"});
  ASSERT_EQ(both.size(), 12U);
  EXPECT_TRUE(std::ranges::equal(first, std::span(both).first(6)));
  EXPECT_TRUE(std::ranges::equal(other, std::span(both).last(6)));
}

TEST_F(ShapesTest, FewerShapesAreTheFirst) {
  const std::string text = points + "sizes = {n = {log_uniform = [1, 1000]}, dimension = {log_uniform = [1, 99]}}\n";
  const std::vector<std::string> all = shapes(text + "shapes = 30\n"), few = shapes(text + "shapes = 7\n");
  ASSERT_EQ(all.size(), 30U);
  EXPECT_TRUE(std::ranges::equal(few, std::span(all).first(7)));
}

TEST_F(ShapesTest, TablesOfAnAlgorithmDrawEachForItself) {
  const std::string table = "[[cases]]\n" + small + "shapes = 9\nsizes = {n = {log_uniform = [1, 100000000]}}\n";
  const std::string other =
      "[[cases]]\nalgorithm = 'sum'\nmethods = 'two_stage'\nmodels = 'serial'\nshapes = 3\n"
      "sizes = {n = {log_uniform = [1, 100]}}\n";
  const std::string plain = "[[cases]]\n" + small + "sizes = 1000000007\n";
  const std::vector<std::string> twice = shapes(table + table), alone = shapes(table);
  EXPECT_GT(twice.size(), 12U) << "a shape that both draw is there once";
  EXPECT_TRUE(std::ranges::equal(alone, std::span(twice).first(9)));
  std::vector<std::string> between = shapes(other + plain + table);
  EXPECT_TRUE(std::ranges::equal(alone, std::span(between).last(9))) << "whatever tables stand before";
}

TEST_F(ShapesTest, ExtentsAreLogUniformWithEdges) {
  const std::vector<std::int64_t> all =
      extents(small + "shapes = 1000\nsizes = {n = {log_uniform = [1, 1000000000]}}\n", "n");
  ASSERT_EQ(all.size(), 1000U);
  std::map<int, int> decades;
  int primes = 0, beside = 0;
  for (const std::int64_t n : all) {
    ASSERT_GE(n, 1);
    ASSERT_LE(n, 1'000'000'000);
    ++decades[static_cast<int>(std::log10(n))];
    const auto value = static_cast<std::uint64_t>(n);
    beside += std::has_single_bit(value - 1) || std::has_single_bit(value + 1) ? 1 : 0;
    bool prime = n > 1;
    for (std::int64_t divisor = 2; divisor * divisor <= n && prime; ++divisor) prime = n % divisor != 0;
    primes += prime ? 1 : 0;
  }
  EXPECT_EQ(all.size(), (std::set<std::int64_t>(all.begin(), all.end()).size())) << "each once";
  EXPECT_EQ(std::ranges::count(all, 1), 1);
  for (int decade = 3; decade < 9; ++decade) EXPECT_GT(decades[decade], 60) << "10^" << decade;
  EXPECT_GT(primes, 100);
  EXPECT_GT(beside, 40);
}

TEST_F(ShapesTest, ElementsBoundTheProductOfAllSizes) {
  const std::string text = points + "elements = [1000, 2000]\nsizes = {n = {log_uniform = [1, 5000]}, ";
  for (const Comparison& comparison :
       read(text + "dimension = {log_uniform = [1, 5000]}}\nshapes = 40\n").comparisons) {
    const Parameters& drawn = comparison.cases.front().parameters;
    const std::int64_t product = drawn.integer("n") * drawn.integer("dimension");
    EXPECT_GE(product, 1000);
    EXPECT_LE(product, 2000);
  }
  for (const std::int64_t n : extents(text + "dimension = 100}\nshapes = 11\n", "n")) {
    EXPECT_GE(n, 10);
    EXPECT_LE(n, 20);
  }
}

TEST_F(ShapesTest, IntegersBesideTheSizesAreDrawnToo) {
  const std::string text =
      "algorithm = 'stencil'\nmethods = 'plain'\nmodels = 'serial'\nshapes = 20\nsizes = {n = {log_uniform = [1, "
      "50]}}\n"
      "steps = {log_uniform = [2, 9]}\n";
  std::set<std::int64_t> steps;
  for (const std::int64_t one : extents(text, "steps")) {
    EXPECT_GE(one, 2);
    EXPECT_LE(one, 9);
    steps.insert(one);
  }
  EXPECT_GT(steps.size(), 3U);
  for (const std::string& shape : shapes(text, {"sizes.n=7", "shapes=5"})) EXPECT_TRUE(shape.starts_with("n:7/steps:"));
  for (const std::string& shape : shapes(text, {"steps=4"})) EXPECT_TRUE(shape.ends_with("/steps:4")) << shape;
}

TEST_F(ShapesTest, RecordsSayThatTheyWereDrawn) {
  const Study drawn = read(small + "shapes = 1\nsizes = {n = {log_uniform = [1, 9]}}\n"), plain = read(small);
  EXPECT_EQ(case_json(drawn.comparisons.at(0).cases.at(0)).at("drawn"), true);
  EXPECT_FALSE(case_json(plain.comparisons.at(0).cases.at(0)).contains("drawn"));
}

TEST_F(ShapesTest, PrintAsTheyAreWrittenAndReadBack) {
  const std::string text =
      "seed = 5\n[[cases]]\n" + small + "shapes = 2\nelements = [1, 90]\nsizes = {n = {log_uniform = [1, 100]}}\n";
  const auto file = folder_.write("study.toml", text);
  const std::string printed = toml_text(read_settings(file, {}));
  EXPECT_EQ(printed,
            "[[cases]]\nalgorithm = \"vector_add\"\nseed = 5\nmethods = \"plain\"\nmodels = \"serial\"\nshapes = 2\n"
            "elements = [1, 90]\nsizes = {n = {log_uniform = [1, 100]}}\n");
  EXPECT_EQ(shapes(printed), shapes(text));
}

TEST_F(ShapesTest, SayWhatIsWrong) {
  const std::string sizes = "sizes = {n = {log_uniform = [1, 100]}}\n", drawn = small + sizes;
  EXPECT_EQ(refusal(drawn), ":4: `sizes.n` is to be drawn: say how many problems, as `shapes = 20`");
  EXPECT_EQ(refusal(small + "elements = [1, 2]\n"),
            ":4: `elements` bounds what is drawn: say how many, as `shapes = 20`");
  EXPECT_EQ(refusal(small + "shapes = 3\nsizes = 8\n"),
            ":5: `sizes` takes one table where `shapes` are drawn, as { n = { log_uniform = [1, 100000] } }, not an "
            "integer");
  EXPECT_EQ(
      refusal(small + "shapes = 3\n"),
      ":4: `shapes` draws problems, but nothing here is to be drawn: write a size as { log_uniform = [1, 100000] }, "
      "or leave the key out");
  EXPECT_EQ(refusal(drawn + "shapes = 0\n"), ":5: `shapes` is 0: it must lie in 1 to 1000");
  EXPECT_EQ(refusal(drawn + "shapes = 9223372036854775807\n"),
            ":5: `shapes` is 9223372036854775807: it must lie in 1 to 1000");
  EXPECT_EQ(refusal(drawn + "shapes = 'many'\n"), ":5: `shapes` takes integers, not a string");
  EXPECT_EQ(refusal(drawn + "shapes = 3\nseed = -1\n"), ":6: `seed` is -1: it must lie in 0 to 9223372036854775807");
  EXPECT_EQ(refusal(drawn + "shapes = 3\nelements = [9]\n"),
            ":6: `elements` takes the minimum and the maximum, as [1, 100000], not a list of 1");
  EXPECT_EQ(
      refusal(drawn + "shapes = 3\nelements = [200, 300]\n"),
      ":5: `shapes` is 3, but only 0 different ones were found: widen the ranges or `elements`, or ask for fewer");
  EXPECT_EQ(refusal(small + "sizes = {n = {log_uniform = [1, 10]}}\nshapes = 500\n"),
            ":5: `shapes` is 500, but only 10 different ones were found: widen the ranges or `elements`, or ask for "
            "fewer");
  EXPECT_EQ(refusal(drawn + "shapes = 3\n", {"sizes.m={log_uniform=[1, 2]}"}).substr(0, 70),
            "--set sizes.m={log_uniform=[1, 2]}: `sizes.m` is a key of no algorithm");
}

TEST_F(ShapesTest, SayWhatIsWrongWithARange) {
  const auto refused = [&](const std::string& value) {
    return refusal(small + "shapes = 3\nsizes = {n = " + value + "}\n");
  };
  EXPECT_EQ(refused("{log_uniform = [9, 2]}"),
            ":5: `sizes.n.log_uniform` is empty: 9 is above 2; write the minimum first");
  EXPECT_EQ(refused("{log_uniform = [0, 2]}"), ":5: `sizes.n.log_uniform` is 0: it must lie in 1 to 1099511627776");
  EXPECT_EQ(refused("{log_uniform = [1, 1e3]}"),
            ":5: `sizes.n.log_uniform` takes integers, not a floating-point number");
  EXPECT_EQ(refused("{log_uniform = 5}"),
            ":5: `sizes.n.log_uniform` takes the minimum and the maximum, as [1, 100000], not an integer");
  EXPECT_EQ(refused("{log_uniform = []}"),
            ":5: `sizes.n.log_uniform` takes the minimum and the maximum, as [1, 100000], not a list of 0");
  EXPECT_EQ(refused("{log_uniforn = [1, 2]}"),
            ":5: `sizes.n.log_uniforn` is no distribution; did you mean 'log_uniform'? Known: log_uniform");
  EXPECT_EQ(refused("{}"), ":5: `sizes.n` says no distribution: write { log_uniform = [1, 100000] }");
  EXPECT_EQ(refused("[1, 2]"), ":5: `sizes.n` takes integers, not a list");
  EXPECT_EQ(refusal(points + "shapes = 3\nsizes = {m = {log_uniform = [1, 2]}}\n").substr(0, 48),
            ":5: `sizes.m` is no size of distance_matrix; did");
  EXPECT_EQ(refusal("algorithm = 'stencil'\nsteps = {log_uniform = [1, 2]}\n"),
            ":2: `steps` is to be drawn: say how many problems, as `shapes = 20`");
  EXPECT_EQ(refusal("algorithm = 'polynomial_fit'\nshapes = 2\nsizes = {points = {log_uniform = [2, 9]}}\n"
                    "learning_rate = {log_uniform = [1, 2]}\n"),
            ":4: `learning_rate` takes a finite number above 0, not a table");
}

/// The problems of a study in configs/, without the ceilings and latencies that bounds rest on.
std::set<std::string> problems_of(const std::string& study, const std::string& seed,
                                  const tests::TemporaryFolder& folder) {
  const std::filesystem::path file = std::filesystem::absolute("configs") / study;
  const tests::Outcome listed =
      tests::run("league", {"run", file.string(), "--benchmark_list_tests", "--seed", seed}, folder.path());
  EXPECT_EQ(listed.code, 0) << listed.err;
  std::set<std::string> problems;
  std::istringstream lines(listed.out);
  for (std::string name; std::getline(lines, name);) {
    const std::size_t variant = name.find("/method:"), problem = name.find("/dtype:"), last = name.find("/devices:");
    if (!name.starts_with("ceilings/") && !name.starts_with("overheads/"))
      problems.insert(name.substr(0, variant) + name.substr(problem, last - problem));
  }
  return problems;
}

/// What configs/ promises, of any seed: every algorithm, 200 problems and more, and of those the ones beside peers.
TEST(ShapesStudy, HasEveryAlgorithm) {
  if (!tests::has_program("league")) GTEST_SKIP() << "no league beside this program";
  const tests::TemporaryFolder folder;
  for (const char* seed : {"1", "77"}) {
    const std::set<std::string> all = problems_of("shapes.toml", seed, folder),
                                peers = problems_of("shapes_peers.toml", seed, folder);
    EXPECT_GE(all.size(), 200U);
    EXPECT_EQ(peers.size(), 20U);
    for (const std::string& one : peers) EXPECT_TRUE(all.contains(one)) << one;
    const std::set<std::string> left_out{"axpy", "ceilings", "overheads"};
    for (const Algorithm& algorithm : registry().algorithms) {
      const bool has = std::ranges::any_of(all, [&](const auto& one) { return one.starts_with(algorithm.name + "/"); });
      EXPECT_NE(has, algorithm.between_shards || left_out.contains(algorithm.name)) << algorithm.name;
    }
  }
}

}  // namespace
}  // namespace league::bench
