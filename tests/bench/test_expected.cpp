// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include "bench/record/record.hpp"
#include "bench/study/expected.hpp"
#include "bench/study/study.hpp"
#include "tests/bench/refusal.hpp"
#include "tests/bench/temporary.hpp"
#include "tests/runtime.hpp"

namespace league::bench {
namespace {

std::vector<Band> read(const std::string& text) { return read_expected(read_value(text, "--set expect")); }

TEST(Expected, IsABandForEachFigure) {
  const std::vector<Band> bands = read("{accuracy = [0.9885, 0.994], loss = [0, 1]}");
  ASSERT_EQ(bands.size(), 2U);
  EXPECT_EQ(bands[0].figure, "accuracy");
  EXPECT_DOUBLE_EQ(bands[0].low, 0.9885);
  EXPECT_DOUBLE_EQ(bands[0].high, 0.994);
  EXPECT_EQ(bands[1].figure, "loss");
  EXPECT_DOUBLE_EQ(bands[1].high, 1);
  EXPECT_TRUE(read("{}").empty());
}

TEST(Expected, IsRefusedNamingTheFigure) {
  const auto message = [](const std::string& text) { return refusal([&] { read(text); }); };
  EXPECT_EQ(message("0.9"),
            "--set expect: `expect` takes a table of figures such as {accuracy = [0.98, 0.99]}, not a floating-point "
            "number");
  EXPECT_NE(message("{accuracy = 0.9}").find("`expect.accuracy` takes a list of two numbers"), std::string::npos);
  EXPECT_NE(message("{accuracy = [0.9]}").find("`expect.accuracy` takes a list of two numbers"), std::string::npos);
  EXPECT_NE(message("{accuracy = [0.9, 0.8]}").find("`expect.accuracy` ends below its begin"), std::string::npos);
  EXPECT_NE(message("{accuracy = [\"a\", 0.8]}").find("`expect.accuracy` takes a finite number"), std::string::npos);
}

TEST(Expected, IsInTheRecordAndNotInTheName) {
  const tests::TemporaryFolder folder;
  Datasets datasets({}, league::tests::runtime().host_memory());
  const std::string plain = "algorithm = \"vector_add\"\nmethods = \"plain\"\nmodels = \"serial\"\nsizes = 8\n";
  const auto only_case = [&](const std::string& text) {
    return read_study(folder.write("study.toml", text), {}, league::tests::runtime(), datasets)
        .comparisons.front()
        .cases.front();
  };
  const Case that = only_case(plain + "expect = { accuracy = [0.5, 0.75] }\n"), without = only_case(plain);
  EXPECT_EQ(that.name, without.name);
  EXPECT_EQ(case_json(that).at("expected").dump(), R"({"accuracy":[0.5,0.75]})");
  EXPECT_FALSE(case_json(without).contains("expected"));
}

}  // namespace
}  // namespace league::bench
