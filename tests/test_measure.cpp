// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <numeric>

#include "bench/clock.hpp"
#include "bench/errors.hpp"
#include "bench/measure.hpp"
#include "bench/sampling.hpp"

namespace league::bench {
namespace {

TEST(Measure, TheMedianIsTheMiddle) {
  EXPECT_EQ(median({3}), 3);
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
}

TEST(Measure, LongRunsHaveFewSamples) {
  EXPECT_EQ(samples_for(10, 0.5), 10);
  EXPECT_EQ(samples_for(10, 3), 10);
  EXPECT_EQ(samples_for(10, 4), 3);
  EXPECT_EQ(samples_for(2, 4), 2);
  EXPECT_EQ(samples_for(10, 25), 2);
  EXPECT_EQ(samples_for(10, 400), 1);
}

class SamplerTest : public ::testing::Test {
 protected:
  static Sampler& sampler() {
    static Sampler one;
    return one;
  }
};

TEST_F(SamplerTest, DrawsWhatWasAskedForInTurn) {
  std::string order;
  const auto draw = [&](char name) {
    return [&order, name] {
      order += name;
      return 1e-3 * static_cast<double>(std::ranges::count(order, name));
    };
  };
  const std::vector<Drawn> drawn = sampler().sample({{"a/b:1", 20, draw('a')}, {"c", 30, draw('c')}});
  ASSERT_EQ(drawn[0].samples.size(), 20U);
  ASSERT_EQ(drawn[1].samples.size(), 30U);
  for (std::size_t i = 0; i < 20; ++i) EXPECT_DOUBLE_EQ(drawn[0].samples[i], 1e-3 * static_cast<double>(i + 1));
  EXPECT_FALSE(order.starts_with(std::string(20, 'a'))) << order;
  EXPECT_FALSE(order.ends_with(std::string(20, 'a'))) << order;
}

TEST_F(SamplerTest, AnErrorEndsOnlyItsOwnCase) {
  int calls = 0;
  const std::vector<Drawn> drawn = sampler().sample({{"bad", 5,
                                                      [&]() -> double {
                                                        ++calls;
                                                        throw std::runtime_error("broken");
                                                      }},
                                                     {"good", 5, [] { return 1.0; }}});
  EXPECT_EQ(drawn[0].error, "broken");
  EXPECT_TRUE(drawn[0].samples.empty());
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(drawn[1].samples, std::vector<double>(5, 1.0));
}

TEST_F(SamplerTest, AnInterruptEndsAll) {
  int calls = 0;
  EXPECT_THROW(sampler().sample({{"a", 5,
                                  [&]() -> double {
                                    ++calls;
                                    throw Interrupted();
                                  }}}),
               Interrupted);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(sampler().sample({{"a", 2, [] { return 1.0; }}}).at(0).samples.size(), 2U);
}

}  // namespace
}  // namespace league::bench
