// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "bench/data/generated.hpp"

namespace league::bench {
namespace {

TEST(Generated, HasTiesDuplicatesAndZeroDistances) {
  const Selection selection{.dataset = "generated", .seed = 5, .train = 220, .test = 70, .features = 6};
  const Dataset data = generate_dataset(selection, *std::pmr::new_delete_resource());
  const auto row = [](const HostArray& rows, std::int64_t i) {
    const auto values = rows.values<const std::uint8_t>(i, i + 1);
    return std::vector(values.begin(), values.end());
  };
  std::set<std::vector<std::uint8_t>> train;
  for (std::int64_t i = 0; i < data.train.rows(); ++i) train.insert(row(data.train, i));
  EXPECT_LE(train.size(), 200U);
  EXPECT_EQ(row(data.train, 9), row(data.train, 10));
  int zero_distances = 0;
  for (std::int64_t i = 0; i < data.test.rows(); ++i) zero_distances += train.contains(row(data.test, i)) ? 1 : 0;
  EXPECT_GE(zero_distances, 10);
  EXPECT_EQ(data.classes, 5);
  EXPECT_EQ(std::ranges::max(data.train_labels.values<const std::int32_t>()), 4);
}

TEST(Generated, NormalHasUnitVarianceAndDuplicates) {
  const Selection selection{.dataset = "normal", .seed = 5, .train = 220, .test = 70, .features = 60};
  const Dataset data = generate_dataset(selection, *std::pmr::new_delete_resource());
  double sum = 0, squares = 0;
  for (const float value : data.train.values<const float>()) {
    sum += static_cast<double>(value);
    squares += static_cast<double>(value) * static_cast<double>(value);
  }
  const auto count = static_cast<double>(data.train.size());
  EXPECT_NEAR(sum / count, 0, 0.05);
  EXPECT_NEAR(squares / count, 1, 0.05);
  EXPECT_TRUE(std::ranges::equal(data.train.values<const float>(9, 10), data.train.values<const float>(10, 11)));
  EXPECT_FALSE(std::ranges::equal(data.train.values<const float>(8, 9), data.train.values<const float>(9, 10)));
  EXPECT_FALSE(std::ranges::equal(data.train.values<const float>(0, 1), data.test.values<const float>(0, 1)));
}

TEST(Generated, DependsOnSeedAndRowOnly) {
  Selection selection{.dataset = "generated", .seed = 5, .train = 50, .test = 20, .features = 6};
  const Dataset small = generate_dataset(selection, *std::pmr::new_delete_resource());
  selection.train = 90;
  const Dataset large = generate_dataset(selection, *std::pmr::new_delete_resource());
  EXPECT_TRUE(
      std::ranges::equal(small.train.values<const std::uint8_t>(), large.train.values<const std::uint8_t>(0, 50)));
  selection.seed = 6;
  const Dataset other = generate_dataset(selection, *std::pmr::new_delete_resource());
  EXPECT_FALSE(std::ranges::equal(other.train.values<const std::uint8_t>(), large.train.values<const std::uint8_t>()));
}

}  // namespace
}  // namespace league::bench
