// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/linear_regression/common/resident.hpp"
#include "tests/algorithms/linear_regression.hpp"

namespace league {
namespace {

using namespace tests::linear_regression;

TEST(LinearRegression, EveryVariantReachesTheClosedForm) {
  for (const auto& [tag, factor] : {std::pair{"", 1}, std::pair{"segmented", 4}}) {
    const auto problem = make({{"points", "3000"}, {"start", "study"}}, Dtype::f64, tag);
    // Segments of 600 rows: the mean over all, four times.
    const auto expected = closed_form(3000, {.83, .7645}, 0.01 * factor, 200);
    everywhere(*problem, tag, [&](const Solved& run) {
      EXPECT_NEAR(run.theta()[0], expected[0], 1e-11);
      EXPECT_NEAR(run.theta()[1], expected[1], 1e-11);
    });
  }
}

TEST(LinearRegression, AllWidthsTypesAndRemainders) {
  for (const char* features : {"1", "2", "5", "13", "32"})
    for (const char* points : {"6", "333"})
      for (const Dtype dtype : {Dtype::f32, Dtype::f64})
        for (const char* tag : {"", "segmented"}) {
          SCOPED_TRACE(std::string(features) + " features, " + points + " points");
          const auto problem =
              make({{"points", points}, {"features", features}, {"steps", "11"}, {"noise", "0.1"}}, dtype, tag);
          everywhere(*problem, tag, [](const Solved&) {});
        }
}

/// Adds what another process gave before, and keeps the sums for the next.
struct Others : Reduce {
  using Reduce::sum;
  void sum(std::span<long double> values) override {
    if (call == given.size()) given.emplace_back(values.size(), 0);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = given[call][i] += values[i];
    ++call;
  }
  std::vector<std::vector<long double>> given;
  std::size_t call = 0;
};

TEST(LinearRegression, PartsOfAProblemMakeTheWhole) {
  const Values values{{"points", "1004"}, {"features", "3"}, {"noise", "0.1"}};
  const auto whole = make(values, Dtype::f64, "segmented");
  const std::int64_t n = whole->rows;
  Others others;
  std::int64_t tests = 0;
  for (const Range local : {Range{0, 301}, Range{301, 303}, Range{303, n}, Range{n, n}}) {
    const auto part = make(values, Dtype::f64, "segmented", local);
    EXPECT_EQ(part->test.begin, whole->test.begin + tests);
    tests += part->test.size();
    for (const Range& rows : {local, part->test})
      for (int f = 0; f <= whole->features; ++f)
        EXPECT_TRUE(std::ranges::equal(part->column<double>(f, rows), whole->column<double>(f, rows)));
    others.call = 0;
    const least_squares::Descent descent = part->descent(others);
    if (local.begin < n) continue;
    const auto expected = descended_of(*whole), got = least_squares::descend(descent);
    for (std::size_t i = 0; i < got.theta.size(); ++i) EXPECT_NEAR(got.theta[i], expected.theta[i], 1e-14);
    EXPECT_NEAR(got.loss.back(), expected.loss.back(), 1e-14);
  }
  EXPECT_EQ(tests, whole->test.size());
}

/// The gradient of a problem's loss, from differences of its direct sum over the rows.
std::vector<double> differences(const LinearRegression& problem, const std::vector<double>& theta) {
  const auto loss = [&](const std::vector<double>& at) {
    long double sum = 0;
    for (std::int64_t i = 0; i < problem.rows; ++i) {
      long double error = at.back() - problem.y.values<double>()[static_cast<std::size_t>(i)];
      for (int f = 0; f < problem.features; ++f)
        error +=
            static_cast<long double>(at[static_cast<std::size_t>(f)]) * problem.column<double>(f, {i, i + 1}).front();
      sum += error * error;
    }
    return sum / (2 * static_cast<long double>(problem.rows));
  };
  std::vector<double> gradient;
  for (std::size_t j = 0; j < theta.size(); ++j) {
    constexpr double h = 1e-4;
    std::vector<double> above = theta, below = theta;
    above[j] += h, below[j] -= h;
    gradient.push_back(static_cast<double>((loss(above) - loss(below)) / (2 * static_cast<long double>(h))));
  }
  return gradient;
}

TEST(LinearRegression, AStepIsTheGradientOfTheLoss) {
  for (const char* features : {"1", "7"}) {
    const auto problem =
        make({{"points", "101"}, {"features", features}, {"steps", "1"}, {"start", "study"}, {"noise", "0.3"}});
    std::vector<double> start(static_cast<std::size_t>(problem->features), .83);
    start.push_back(.7645);
    const std::vector<double> gradient = differences(*problem, start);
    everywhere(*problem, "", [&](const Solved& run) {
      const std::vector<double> theta = run.theta();
      for (std::size_t j = 0; j < theta.size(); ++j)
        EXPECT_NEAR((start[j] - theta[j]) / 0.01, gradient[j], 1e-9) << "position " << j;
    });
  }
}

TEST(LinearRegression, NormalEquationsAgreeWithQr) {
  for (const char* features : {"1", "3", "8", "10", "11", "16", "17", "32"})
    for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
      SCOPED_TRACE(features);
      const auto problem =
          make({{"points", "2503"}, {"features", features}, {"noise", "0.1"}}, dtype, "normal_equations");
      const std::vector<double> expected = by_qr(*problem);
      const auto minimum = problem->minimum(alone);
      for (std::size_t j = 0; j < expected.size(); ++j) {
        EXPECT_NEAR(minimum.theta[j], expected[j], 1e-11);
        EXPECT_LT(minimum.bound[j], 1e-9) << "a bound that says nothing";
      }
      EXPECT_GE(minimum.condition, 1);
      EXPECT_LT(minimum.condition, 50);
      everywhere(*problem, "normal_equations", [&](const Solved& run) {
        for (std::size_t j = 0; j < expected.size(); ++j) EXPECT_NEAR(run.theta()[j], expected[j], 1e-9);
      });
    }
}

/// Columns with offsets, of sizes from 2^-9 to 2^9: what is held to is the bound of the sums.
TEST(LinearRegression, NormalEquationsOfUnevenColumns) {
  for (const char* features : {"5", "15", "31"})
    for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
      SCOPED_TRACE(features);
      const auto problem =
          make({{"points", "4099"}, {"features", features}, {"noise", "0.1"}}, dtype, "normal_equations");
      const auto change = [&](auto values) {
        const std::size_t rows = values.size() / static_cast<std::size_t>(problem->features);
        for (std::size_t i = 0; i < values.size(); ++i) {
          const int column = static_cast<int>(i / rows);
          values[i] = std::ldexp(values[i] + static_cast<float>(column % 4), column * 7 % 19 - 9);
        }
      };
      dtype == Dtype::f64 ? change(problem->x.values<double>()) : change(problem->x.values<float>());
      const auto minimum = problem->minimum(alone);
      EXPECT_GT(minimum.condition, 1e5);
      everywhere(*problem, "normal_equations", [&](const Solved& run) {
        for (std::size_t j = 0; j < minimum.theta.size(); ++j)
          EXPECT_NEAR(run.theta()[j], minimum.theta[j], minimum.bound[j]);
      });
    }
}

TEST(LinearRegression, WhatCannotBeFittedIsNamed) {
  const auto expect = [](Values values, const std::string& message) {
    try {
      static_cast<void>(make(std::move(values)));
      ADD_FAILURE() << "accepted: " << message;
    } catch (const std::invalid_argument& error) {
      EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
    }
  };
  expect({{"features", "33"}}, "features = 33: takes 1 to 32");
  expect({{"features", "0"}}, "features = 0: takes 1 to 32");
  expect({{"points", "1"}}, "points = 1");
  expect({{"steps", "0"}}, "steps = 0");
  expect({{"learning_rate", "nan"}}, "learning_rate");
  expect({{"learning_rate", "0"}}, "learning_rate");
  expect({{"noise", "-1"}}, "noise");
}

TEST(LinearRegression, DivergenceIsReported) {
  const auto leaves_range = make({{"learning_rate", "0.6"}}, Dtype::f32);
  const auto grows = make({{"learning_rate", "0.12"}, {"steps", "30"}}, Dtype::f64);
  for (const auto& [problem, message] : {std::pair{leaves_range.get(), "diverged: the loss is not finite from step "},
                                         std::pair{grows.get(), "diverged: the loss grows"}})
    for (const Variant* variant : variants("")) {
      const Verdict verdict = problem->check_alone(*Solved(*variant, *problem).outputs);
      EXPECT_NE(verdict.message.find(message), std::string::npos) << variant->method << ": " << verdict.message;
      EXPECT_TRUE(verdict.ill_posed) << variant->method;
    }
}

TEST(LinearRegression, WrongResultsFail) {
  for (const Dtype dtype : {Dtype::f32, Dtype::f64})
    for (const char* tag : {"", "normal_equations"}) {
      const auto problem = make({{"points", "5000"}}, dtype, tag);
      Solved run(*variants(tag).front(), *problem);
      ASSERT_TRUE(problem->check_alone(*run.outputs).passed());
      for (std::size_t output = 0; output < run.outputs->size(); ++output) {
        HostArray& array = run.results.at(output).values;
        if (array.dtype() != Dtype::f64) continue;
        double& last = array.values<double>().back();
        const double right = last;
        last = right + 1e-3 * (1 + std::abs(right));
        EXPECT_FALSE(problem->check_alone(*run.outputs).passed()) << run.outputs->at(output).name;
        last = std::nan("");
        EXPECT_FALSE(problem->check_alone(*run.outputs).passed()) << run.outputs->at(output).name;
        last = right;
      }
      run.prepared->reset();
      run.prepared->download();
      run.prepared->fence();
      EXPECT_FALSE(problem->check_alone(*run.outputs).passed()) << "nothing was computed";
    }
}

TEST(LinearRegression, TwoSolvesInARowAreTheSame) {
  for (const char* tag : {"", "segmented", "normal_equations"}) {
    const auto problem = make({{"points", "1003"}, {"features", "3"}, {"noise", "0.1"}}, Dtype::f32, tag);
    for (const Variant* variant : variants(tag))
      for (const Execution execution : variant->executions) {
        Solved run(*variant, *problem, {.execution = execution});
        const std::vector<double> first = run.theta();
        run.again();
        const bool in_order = variant->method != "atomic" && variant->method != "streams" && variant->method != "fused";
        for (std::size_t i = 0; i < first.size(); ++i) {
          if (in_order)
            EXPECT_EQ(run.theta()[i], first[i]) << variant->method << " " << variant->model.name;
          else
            EXPECT_NEAR(run.theta()[i], first[i], 1e-6) << variant->method << " " << variant->model.name;
        }
      }
  }
}

/// The lanes of a GPU, one after another: packs begin within segments, and teams are fewer or more than segments. Steps
/// go forward and backward.
TEST(LinearRegression, TeamsShareSegments) {
  using namespace linear_regression;
  constexpr int width = 4, features = 3, lanes = 2, most = 203;
  alignas(64) static float x[features][most], y[most];
  for (int row = 0; row < most; ++row) {
    for (int f = 0; f < features; ++f) x[f][row] = static_cast<float>(row % (5 + f));
    y[row] = static_cast<float>(row % 3);
  }
  const Line<float, width> line{{1, 2, 3}, 4};
  Rule rule{.scale = {1, 10, 100, 1000}, .segments = 4};
  for (const int rows : {0, 1, 3, 6, 17, 64, most}) {
    const Columns<float> data{.x = {x[0], x[1], x[2]}, .y = y, .rows = rows, .features = features};
    Sums<double, terms<width>> expected;
    for (int row = 0, segment = 0; row < rows; ++row) {
      while (row >= piece_of(rows, 4, segment).end) ++segment;
      const double error = x[0][row] + 2 * x[1][row] + 3 * x[2][row] + 4 - y[row];
      for (int f = 0; f < features; ++f) expected.values[f] += rule.scale[segment] * error * x[f][row];
      expected.values[width] += rule.scale[segment] * error;
      expected.values[width + 1] += error * error;
    }
    for (const int teams : {1, 2, 3, 4, 5, 8, 11})
      for (const std::int64_t step : {0, 1}) {
        Sums<double, terms<width>> all;
        for (int team = 0; team < teams; ++team)
          for (int lane = 0; lane < lanes; ++lane)
            all += segment_sums<width>(rule, rows, {team, teams, lane, lanes},
                                       [&](Range some, Place of) { return lane_sums(data, line, of, step, some); });
        for (int i = 0; i < terms<width>; ++i)  // integers, all exact
          EXPECT_EQ(all.values[i], expected.values[i])
              << rows << " rows, " << teams << " teams, sum " << i << ", step " << step;
      }
  }
}

/// Of 132 multiprocessors: few teams for few rows, and never none, though one host team has more lanes than a GPU's.
TEST(LinearRegression, AutomaticLeaguesGrowWithTheRows) {
  using namespace linear_regression;
  const auto league = []<int width>(std::int64_t rows) {
    const int lanes = persistent_lanes<width, false>(rows);
    const Launch launch{league_of(ceil_div<std::int64_t>(rows, lanes)), lanes, 1};
    return automatic_league<width, false>(rows, launch, 100'000, 132);
  };
  for (const auto& [rows, up_to_4, up_to_12, more] :
       std::initializer_list<std::array<int, 4>>{{1, 1, 1, 1},
                                                 {4'000, 16, 16, 16},
                                                 {16'000, 63, 32, 125},
                                                 {52'000, 64, 132, 132},
                                                 {800'000, 132, 264, 264}}) {
    EXPECT_EQ(league.operator()<4>(rows), up_to_4) << rows;
    EXPECT_EQ(league.operator()<12>(rows), up_to_12) << rows;
    EXPECT_EQ(league.operator()<32>(rows), more) << rows;
  }
  EXPECT_EQ((automatic_league<12, false>(1 << 20, {1, 512, 1}, 1, 1)), 1);
}

TEST(LinearRegression, PersistentTakesAnyLeagueThatFitsAtOnce) {
  const auto persistent = tests::variants<league::LinearRegression>(
      [](const Variant& variant) { return variant.method.starts_with("persistent"); });
  for (const char* features : {"1", "3", "13"})
    for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
      SCOPED_TRACE(std::string(features) + " features");
      const Values values{{"points", "20011"}, {"features", features}, {"noise", "0.1"}, {"steps", "21"}};
      tests::any_league_that_fits(persistent, *make(values, dtype, ""));
    }
}

}  // namespace
}  // namespace league
