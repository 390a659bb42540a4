// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "algorithms/contract/registry.hpp"

// Valid values of parameters: intervals, and problems made from values outside.
namespace league {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(Interval, HasItsEndsUnlessTheyAreOpen) {
  const Interval closed{.min = 0, .max = 1}, open{.min = 0, .max = 1, .open_min = true, .open_max = true};
  for (const double inside : {0x1p-1074, 0.5, 1 - 0x1p-53}) {
    EXPECT_TRUE(closed.contains(inside)) << inside;
    EXPECT_TRUE(open.contains(inside)) << inside;
  }
  for (const double end : {0.0, -0.0, 1.0}) {
    EXPECT_TRUE(closed.contains(end)) << end;
    EXPECT_FALSE(open.contains(end)) << end;
  }
  for (const double outside : {-0x1p-1074, 1 + 0x1p-52, infinity, -infinity, std::nan("")}) {
    EXPECT_FALSE(closed.contains(outside)) << outside;
    EXPECT_FALSE(open.contains(outside)) << outside;
    EXPECT_EQ(Interval{}.contains(outside), std::isfinite(outside)) << outside;
  }
  EXPECT_TRUE(from_zero.contains(1e308) && from_zero.contains(0) && !from_zero.contains(-1));
  EXPECT_TRUE(above_zero.contains(5e-324) && !above_zero.contains(0) && !above_zero.contains(infinity));
}

TEST(Interval, IsSaidInWords) {
  EXPECT_EQ(Interval{}.words(), "a finite number");
  EXPECT_EQ(from_zero.words(), "a finite number from 0 on");
  EXPECT_EQ(above_zero.words(), "a finite number above 0");
  EXPECT_EQ((Interval{.min = 0, .max = 100}.words()), "a finite number from 0 to 100");
  EXPECT_EQ((Interval{.min = 0, .max = 1e6, .open_min = true}.words()), "a finite number above 0 and up to 1e+06");
  EXPECT_EQ((Interval{.min = 0, .max = 1, .open_max = true}.words()), "a finite number from 0 and below 1");
  EXPECT_EQ((Interval{.min = -1, .max = 1, .open_min = true, .open_max = true}.words()),
            "a finite number above -1 and below 1");
  EXPECT_EQ((Interval{.max = 0.5}.words()), "a finite number up to 0.5");
  EXPECT_EQ((Interval{.max = 0.5, .open_max = true}.words()), "a finite number below 0.5");
}

/// The error message of a problem with one invalid value, else the defaults.
std::string refusal(const Algorithm& algorithm, const std::string& name, const std::string& value) {
  Parameters parameters;
  for (const Parameter& parameter : algorithm.parameters) parameters.values[parameter.name] = parameter.default_value;
  parameters.values[name] = value;
  const Dataset none;
  try {
    static_cast<void>(algorithm.make({parameters, Dtype::f32, 1, &none, ""}));
  } catch (const std::invalid_argument& refused) {
    return refused.what();
  }
  return "accepted";
}

TEST(Parameter, ProblemsRefuseRealsOutOfBounds) {
  int reals = 0;
  for (const Algorithm& algorithm : registry().algorithms)
    for (const Parameter& parameter : algorithm.parameters) {
      if (parameter.kind != Parameter::Kind::real) continue;
      SCOPED_TRACE(algorithm.name + " " + parameter.name);
      ++reals;
      EXPECT_TRUE(parameter.interval.contains(std::stod(parameter.default_value)));
      const std::string takes = ": takes " + parameter.interval.words();
      for (const char* never : {"nan", "inf", "-inf", "-1"})
        EXPECT_EQ(refusal(algorithm, parameter.name, never), parameter.name + " = " + never + takes);
      const std::string of_zero = refusal(algorithm, parameter.name, "0");
      EXPECT_EQ(of_zero == parameter.name + " = 0" + takes, parameter.interval.open_min) << of_zero;
    }
  EXPECT_GE(reals, 8) << "the rates and penalties of four algorithms";
}

TEST(Parameter, ProblemsRefuseIntegersOutOfBounds) {
  EXPECT_EQ(refusal(*registry().algorithm("linear_regression"), "features", "33"), "features = 33: takes 1 to 32");
  EXPECT_EQ(refusal(*registry().algorithm("polynomial_fit"), "points", "1"), "points = 1: takes 2 to 1099511627776");
  EXPECT_EQ(refusal(*registry().algorithm("knn"), "k", "65"), "k = 65: takes 1 to 64");
  EXPECT_EQ(refusal(*registry().algorithm("linear_regression"), "features", "32"), "accepted");
  EXPECT_THROW(within_bounds({{}, Dtype::f32, 1, nullptr, ""}, "no such algorithm"), std::logic_error);
}

TEST(Parameter, ProblemsRefuseUnknownChoices) {
  EXPECT_EQ(refusal(*registry().algorithm("knn"), "votes", "all"), "votes = all: takes one of eps, inverse, uniform");
  EXPECT_EQ(refusal(*registry().algorithm("linear_regression"), "start", ""), "start = : takes one of zero, study");
  EXPECT_EQ(refusal(*registry().algorithm("linear_regression"), "start", "study"), "accepted");
}

}  // namespace
}  // namespace league
