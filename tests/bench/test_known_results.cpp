// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <algorithm>

#include "bench/measure/known_results.hpp"
#include "bench/measure/measure.hpp"
#include "bench/measure/shared_problem.hpp"
#include "tests/runtime.hpp"

namespace league::bench {
namespace {

/// One array of bytes, all the same.
Outputs results_of(std::int64_t size, std::uint8_t value, std::string form = "") {
  Outputs results;
  results.push_back(
      {"values", HostArray(*std::pmr::new_delete_resource(), Dtype::u8, {size}), {0, size}, std::move(form)});
  std::ranges::fill(results.front().values.values<std::uint8_t>(), value);
  return results;
}

TEST(KnownResults, AreFoundByTheirBitsAndForms) {
  KnownResults known;
  EXPECT_FALSE(known.find(results_of(9, 1)));
  known.keep(results_of(9, 1), {.rows_checked = 5});
  known.keep(results_of(9, 2), {.message = "wrong"});
  known.keep(results_of(0, 0), {.rows_checked = 7});
  ASSERT_TRUE(known.find(results_of(9, 1)));
  EXPECT_EQ(known.find(results_of(9, 1))->rows_checked, 5);
  EXPECT_EQ(known.find(results_of(9, 2))->message, "wrong");
  EXPECT_EQ(known.find(results_of(0, 0))->rows_checked, 7);
  EXPECT_FALSE(known.find(results_of(9, 3)));
  EXPECT_FALSE(known.find(results_of(8, 1)));
  EXPECT_FALSE(known.find(results_of(9, 1, "expanded")));
  EXPECT_FALSE(known.find({}));
  Outputs last = results_of(9, 1);
  last.front().values.values<std::uint8_t>()[8] = 2;
  EXPECT_FALSE(known.find(last));
}

TEST(KnownResults, TakeBoundedMemory) {
  constexpr auto most = static_cast<std::int64_t>(KnownResults::max_bytes);
  KnownResults known;
  known.keep(results_of(most + 1, 0), {});
  EXPECT_FALSE(known.find(results_of(most + 1, 0)));
  const int kept = static_cast<int>(KnownResults::max_bytes_in_all / KnownResults::max_bytes);
  for (int value = 0; value <= kept; ++value) known.keep(results_of(most, static_cast<std::uint8_t>(value)), {});
  EXPECT_FALSE(known.find(results_of(most, 0)));
  for (int value = 1; value <= kept; ++value)
    EXPECT_TRUE(known.find(results_of(most, static_cast<std::uint8_t>(value))));
}

TEST(KnownResults, AreNotJudgedAgain) {
  Runtime& runtime = tests::runtime();
  Datasets datasets({}, runtime.host_memory());
  const Algorithm& algorithm = *registry().algorithm("vector_add");
  Case that{.algorithm = &algorithm, .method = &algorithm.methods.front(), .model = "serial", .devices = 1};
  for (const Parameter& parameter : algorithm.parameters)
    that.parameters.values[parameter.name] = parameter.default_value;
  that.parameters.values["n"] = "100";
  const auto problem = make_problem(that, runtime, datasets);
  KnownResults known;
  Stages stages;
  PreparedCase first(that, *problem, runtime, std::int64_t{1} << 30, {.known = &known});
  EXPECT_EQ(check_fresh(first, stages).verdict.rows_checked, 100);
  ASSERT_TRUE(known.find(first.outputs()));
  KnownResults doctored;
  doctored.keep(first.outputs(), {.rows_checked = 77});
  PreparedCase second(that, *problem, runtime, std::int64_t{1} << 30, {.known = &doctored});
  EXPECT_EQ(check_fresh(second, stages).verdict.rows_checked, 77);
  EXPECT_EQ(check_left(second, *problem).verdict.rows_checked, 100) << "by a given oracle";
  PreparedCase third(that, *problem, runtime, std::int64_t{1} << 30);
  EXPECT_EQ(check_fresh(third, stages).verdict.rows_checked, 100);
}

}  // namespace
}  // namespace league::bench
