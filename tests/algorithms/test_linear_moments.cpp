// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/algorithms/linear_regression.hpp"

// The descent on moments against the bound that its page derives: that of double, for floats too.
namespace league {
namespace {

using namespace tests::linear_regression;

std::vector<const Variant*> by_moments() {
  return tests::variants<LinearRegression>([](const Variant& variant) { return variant.method == "moments"; });
}

/// Columns with offsets, of sizes from 2^-4 to 2^4, and targets far from zero: gradients and losses cancel.
template <class T>
void make_hard(LinearRegression& problem) {
  const std::span<T> x = problem.x.values<T>(), y = problem.y.values<T>();
  for (std::size_t i = 0; i < x.size(); ++i) {
    const int column = static_cast<int>(i / y.size());
    x[i] = std::ldexp(x[i] + static_cast<T>(column % 3), column * 5 % 9 - 4);
  }
  for (T& value : y) value += T{1000};
}

/// A step that H's largest eigenvalue allows.
std::string steep(const LinearRegression& problem) {
  const least_squares::Descent descent = problem.descent(alone);
  double trace = 0;
  for (int i = 0; i <= problem.features; ++i)
    trace += static_cast<double>(descent.gradient.plain[descent.gradient.at(i, i)]);
  return std::to_string(1 / trace);
}

TEST(LinearMoments, KeepToTheBoundOfDoubles) {
  for (const char* features : {"1", "3", "4", "7", "8", "10"})
    for (const char* points : {"40", "4099"})
      for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
        SCOPED_TRACE(std::string(features) + " features, " + points + " points, " + std::string(name(dtype)));
        Values values{{"points", points}, {"features", features}, {"noise", "0.1"}, {"start", "study"}};
        const auto change = [&](LinearRegression& problem) {
          dtype == Dtype::f64 ? make_hard<double>(problem) : make_hard<float>(problem);
        };
        const auto first = make(values, dtype);
        change(*first);
        values["learning_rate"] = steep(*first);
        const auto problem = make(values, dtype);
        change(*problem);
        least_squares::Descent descent = problem->descent(alone);
        const double of_type = least_squares::descend(descent).theta_bound.back();
        descent.unit = static_cast<double>(problem->rows + problem->features + 10) * 0x1p-52;
        const least_squares::Descended expected = least_squares::descend(descent);
        EXPECT_LT(expected.loss.back(), expected.loss.front() / 2) << "hardly a descent";
        EXPECT_LT(expected.theta_bound.back(), of_type / (dtype == Dtype::f32 ? 1000 : 0.9)) << "no bound of its own";
        tests::everywhere<Solved>(by_moments(), *problem, [&](const Solved& run) {
          for (std::size_t i = 0; i < expected.theta.size(); ++i)
            EXPECT_NEAR(run.theta()[i], expected.theta[i], expected.theta_bound[i]);
          const std::vector<double> loss = run.values(LinearRegression::loss);
          for (std::size_t i = 0; i < loss.size(); ++i) EXPECT_NEAR(loss[i], expected.loss[i], expected.loss_bound[i]);
        });
      }
}

/// Without noise a long descent ends where the sums have no digit of the loss left.
TEST(LinearMoments, ALossIsNeverBelowZero) {
  const auto problem = make({{"points", "50"}, {"features", "2"}, {"steps", "30000"}, {"learning_rate", "1"}});
  EXPECT_LT(descended_of(*problem).loss.back(), 1e-20);
  tests::everywhere<Solved>(by_moments(), *problem, [](const Solved& run) {
    for (const double loss : run.values(LinearRegression::loss)) ASSERT_GE(loss, 0);
  });
}

TEST(LinearMoments, TakeUpToTenFeatures) {
  const auto problem = make({{"points", "100"}, {"features", "11"}});
  for (const Variant* variant : by_moments()) try {
      const Solved run(*variant, *problem);
      ADD_FAILURE() << "accepted";
    } catch (const Unsupported& refused) {
      EXPECT_NE(std::string(refused.what()).find("11 features: a thread holds the moments of up to 10"),
                std::string::npos)
          << refused.what();
    }
}

/// One pass, whatever the steps; all that a descent from the rows reads in each.
TEST(LinearMoments, ReadTheRowsOnce) {
  for (const char* steps : {"1", "100"}) {
    const auto problem = make({{"points", "1000"}, {"features", "3"}, {"steps", steps}}, Dtype::f32);
    EXPECT_EQ(problem->cost().bytes, 800 * 4 * 4);
    EXPECT_EQ(problem->method_bytes("moments"), 800 * 4 * 4);
    EXPECT_EQ(problem->method_bytes("fused"), std::stod(steps) * 800 * 4 * 4);
  }
  const auto few = make({{"points", "1000"}, {"features", "3"}, {"steps", "1"}}),
             many = make({{"points", "1000"}, {"features", "3"}, {"steps", "1000"}});
  EXPECT_EQ(few->cost().operations, 800 * 16);
  EXPECT_EQ(many->cost().operations, 800 * 5 * 6 + 1000 * 4 * 13);
}

}  // namespace
}  // namespace league
