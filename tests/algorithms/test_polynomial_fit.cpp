// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>

#include "algorithms/polynomial_fit/polynomial_fit.hpp"
#include "tests/algorithms/solved.hpp"
#include "tests/runtime.hpp"

namespace league {
namespace {

using Theta = std::vector<double>;

struct Solved : tests::Solved {
  using tests::Solved::Solved;
  [[nodiscard]] Theta theta() const { return values(PolynomialFit::theta); }
};

std::unique_ptr<PolynomialFit> make(const std::string& points, const std::string& steps, Dtype dtype = Dtype::f64,
                                    const std::string& rate = "1e-6", std::uint64_t seed = 1) {
  std::pmr::memory_resource& memory = tests::runtime().host_memory();
  auto problem = std::make_unique<PolynomialFit>(
      Making{{{{"points", points}, {"steps", steps}, {"learning_rate", rate}}}, dtype, seed, nullptr, ""});
  problem->make_inputs({0, problem->extent()}, memory);
  return problem;
}

least_squares::Descended descended_of(const PolynomialFit& problem) {
  Reduce alone;
  return least_squares::descend(problem.descent(alone));
}

/// Runs every variant on one to three devices; what it cannot run there it says.
void everywhere(const PolynomialFit& problem, const std::function<void(Solved&)>& expect) {
  tests::everywhere<Solved>(tests::variants<PolynomialFit>(), problem, expect);
}

/// The sum of squared errors, and twice the sums of error x power, straight from the formula.
double loss_of(const PolynomialFit& problem, const Theta& theta, Theta* gradient = nullptr) {
  long double loss = 0;
  std::array<long double, PolynomialFit::terms> sums{};
  for (std::size_t i = 0; i < static_cast<std::size_t>(problem.points); ++i) {
    const long double x = problem.x.values<double>()[i];
    const long double error =
        theta[0] + theta[1] * x + theta[2] * x * x + theta[3] * x * x * x - problem.y.values<double>()[i];
    loss += error * error;
    for (std::size_t p = 0; p < sums.size(); ++p) sums[p] += 2 * error * std::pow(x, static_cast<long double>(p));
  }
  if (gradient != nullptr)
    for (std::size_t p = 0; p < sums.size(); ++p) (*gradient)[p] = static_cast<double>(sums[p]);
  return static_cast<double>(loss);
}

Theta start_of(const PolynomialFit& problem) { return {problem.start, problem.start + PolynomialFit::terms}; }

TEST(PolynomialFit, TheOracleIsTheSameDescentPointByPoint) {
  const auto problem = make("301", "500", Dtype::f64, "5e-6");
  Theta theta = start_of(*problem), gradient(theta.size());
  const auto descended = descended_of(*problem);
  for (std::size_t step = 0; step < 500; ++step) {
    const double loss = loss_of(*problem, theta, &gradient);
    ASSERT_NEAR(descended.loss[step], loss, 1e-11 * loss);
    for (std::size_t p = 0; p < theta.size(); ++p) theta[p] -= 5e-6 * gradient[p];
  }
  for (std::size_t p = 0; p < theta.size(); ++p) EXPECT_NEAR(descended.theta[p], theta[p], 1e-12);
}

TEST(PolynomialFit, TheGradientIsThatOfTheLoss) {
  const auto problem = make("99", "1");
  const Theta start = start_of(*problem);
  Theta differences(start.size());
  for (std::size_t p = 0; p < start.size(); ++p) {
    constexpr double h = 1e-3;
    Theta above = start, below = start;
    above[p] += h, below[p] -= h;
    differences[p] = (loss_of(*problem, above) - loss_of(*problem, below)) / (2 * h);
  }
  everywhere(*problem, [&](const Solved& run) {
    const Theta theta = run.theta();
    for (std::size_t p = 0; p < theta.size(); ++p)
      EXPECT_NEAR((start[p] - theta[p]) / 1e-6, differences[p], 1e-8 * std::abs(differences[p]) + 1e-6);
  });
}

TEST(PolynomialFit, TheStudysRunGetsCloserToTheSine) {
  const auto problem = make("2000", "2000");
  const auto descended = descended_of(*problem);
  EXPECT_LT(descended.loss.back(), descended.loss.front() / 10);
  EXPECT_TRUE(std::ranges::is_sorted(descended.loss, std::ranges::greater{}));
  for (const double bound : descended.theta_bound) EXPECT_LT(bound, 1e-10) << "a bound that says nothing";
  const auto rough = make("2000", "2000", Dtype::f32);
  for (const double bound : descended_of(*rough).theta_bound) EXPECT_LT(bound, 5e-4);
  everywhere(*problem, [&](const Solved& run) {
    for (std::size_t p = 0; p < descended.theta.size(); ++p) EXPECT_NEAR(run.theta()[p], descended.theta[p], 1e-11);
  });
}

TEST(PolynomialFit, AnyNumberOfStepsPointsAndDevices) {
  for (const Dtype dtype : {Dtype::f32, Dtype::f64})
    for (const char* steps : {"1", "7", "8", "13", "201"})
      for (const char* points : {"2", "17", "1031"}) {
        SCOPED_TRACE(std::string(steps) + " steps, " + points + " points");
        everywhere(*make(points, steps, dtype), [](Solved& run) {
          const Theta first = run.theta();
          run.again();
          EXPECT_EQ(run.theta(), first) << "the second solve";
        });
      }
}

/// Sums of powers in double, of floats too: the bound that the page derives. More points than a team has lanes for.
TEST(PolynomialFit, MomentsKeepToTheBoundOfDoubles) {
  for (const auto& [points, rate] : {std::pair{"3", "1e-4"}, {"2000", "1e-6"}, {"100003", "2e-8"}})
    for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
      SCOPED_TRACE(points);
      const auto problem = make(points, "300", dtype, rate);
      Reduce alone;
      least_squares::Descent descent = problem->descent(alone);
      const double of_type = least_squares::descend(descent).theta_bound.back();
      descent.unit = static_cast<double>(problem->points + 20) * 0x1p-52;
      const least_squares::Descended expected = least_squares::descend(descent);
      EXPECT_LT(expected.loss.back(), expected.loss.front());
      EXPECT_LT(expected.theta_bound.back(), of_type / (dtype == Dtype::f32 ? 1000 : 1)) << "no bound of its own";
      const auto moments = [](const Variant& variant) { return variant.method == "moments"; };
      tests::everywhere<Solved>(tests::variants<PolynomialFit>(moments), *problem, [&](const Solved& run) {
        for (std::size_t i = 0; i < expected.theta.size(); ++i)
          EXPECT_NEAR(run.theta()[i], expected.theta[i], expected.theta_bound[i]);
        const auto loss = run.values(PolynomialFit::loss);
        for (std::size_t i = 0; i < loss.size(); ++i) EXPECT_NEAR(loss[i], expected.loss[i], expected.loss_bound[i]);
      });
    }
}

TEST(PolynomialFit, WrongResultsAndDivergenceAreReported) {
  const auto problem = make("500", "100", Dtype::f32);
  const auto diverging = make("2000", "400", Dtype::f32, "1e-4");
  everywhere(*problem, [&](Solved& run) {
    double& last = run.outputs->at(PolynomialFit::theta).values.values<double>().back();
    last += 1e-3;
    EXPECT_FALSE(problem->check_alone(*run.outputs).passed());
    run.prepared->reset();
    run.prepared->download();
    run.prepared->fence();
    EXPECT_FALSE(problem->check_alone(*run.outputs).passed()) << "nothing was computed";
  });
  const Variant& any =
      *std::ranges::find(registry().variants, std::string(PolynomialFit::algorithm), &Variant::algorithm);
  const Verdict verdict = diverging->check_alone(*Solved(any, *diverging).outputs);
  EXPECT_NE(verdict.message.find("diverged: the loss is not finite from step "), std::string::npos) << verdict.message;
  EXPECT_TRUE(verdict.ill_posed);
}

TEST(PolynomialFit, TheStartIsOfTheSeed) {
  const auto one = make("10", "1"), same = make("10", "1"), other = make("10", "1", Dtype::f64, "1e-6", 2);
  EXPECT_EQ(start_of(*one), start_of(*same));
  EXPECT_NE(start_of(*one), start_of(*other));
}

TEST(PolynomialFit, PersistentTakesAnyLeagueThatFitsAtOnce) {
  const auto persistent =
      tests::variants<league::PolynomialFit>([](const Variant& variant) { return variant.method == "persistent"; });
  for (const Dtype dtype : {Dtype::f32, Dtype::f64})
    tests::any_league_that_fits(persistent, *make("20011", "21", dtype, "1e-8"));
}

}  // namespace
}  // namespace league
