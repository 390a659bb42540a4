// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <algorithm>

#include "bench/data/cifar.hpp"
#include "bench/data/dataset.hpp"
#include "tests/bench/refusal.hpp"
#include "tests/bench/temporary.hpp"

namespace league::bench {
namespace {

using tests::TemporaryFolder;

constexpr auto features = static_cast<std::size_t>(Cifar::features);

/// Records whose labels count from `first`, with pixels of one value each.
std::string records(int first, int count) {
  std::string bytes;
  for (int i = 0; i < count; ++i)
    bytes += static_cast<char>((first + i) % 10) + std::string(features, static_cast<char>(first + i));
  return bytes;
}

TEST(Cifar, ReadsRecords) {
  const TemporaryFolder folder;
  const Cifar read = read_cifar(folder.write("batch.bin", records(3, 2)));
  EXPECT_EQ(read.labels, (std::vector<std::uint8_t>{3, 4}));
  ASSERT_EQ(read.images.size(), 2 * features);
  EXPECT_EQ(read.images[features - 1], 3);
  EXPECT_EQ(read.images[features], 4);
}

TEST(Cifar, RefusesWhatIsNoSuchFile) {
  const TemporaryFolder folder;
  const auto message = [&](const std::string& content) {
    return refusal([&] { static_cast<void>(read_cifar(folder.write("batch.bin", content))); });
  };
  EXPECT_NE(message("").find("holds no images"), std::string::npos);
  EXPECT_NE(message(records(0, 2) + "x").find("at byte 6147: the file ends within a record of 3073 bytes"),
            std::string::npos)
      << message(records(0, 2) + "x");
  std::string wrong = records(0, 2);
  wrong[3073] = 10;
  EXPECT_NE(message(wrong).find("at byte 3073: a label is 10, not 0 to 9"), std::string::npos) << message(wrong);
}

TEST(Cifar, IsADatasetOfSixFiles) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() / "cifar10");
  for (const int batch : {1, 2, 3, 4, 5})
    folder.write("cifar10/data_batch_" + std::to_string(batch) + ".bin", records(batch, 2));
  const Selection asked{.dataset = "cifar10", .split = "predefined"};
  auto& memory = *std::pmr::get_default_resource();
  const std::string missing = refusal([&] { static_cast<void>(Datasets(folder.path(), memory).resolve(asked)); });
  EXPECT_NE(missing.find("no file 'test_batch.bin' of CIFAR-10"), std::string::npos) << missing;
  EXPECT_EQ(missing.find("Fashion"), std::string::npos) << missing;
  folder.write("cifar10/test_batch.bin", records(7, 3));
  Datasets datasets(folder.path(), memory);
  const Selection selection = datasets.resolve(asked);
  EXPECT_EQ(selection.train, 10);
  EXPECT_EQ(selection.test, 3);
  EXPECT_EQ(selection.features, 3072);
  const Dataset& data = datasets.rows(selection);
  EXPECT_EQ(data.train_labels.values<const std::int32_t>()[9], 6);
  EXPECT_EQ(data.test.values<const std::uint8_t>()[2 * features], 9);
  EXPECT_EQ(datasets.hashes().size(), 6U);
}

TEST(Cifar, ImagesOfOneColourGetItsShape) {
  std::vector<std::uint8_t> images(2 * 28 * 28);
  for (std::size_t i = 0; i < images.size(); ++i) images[i] = static_cast<std::uint8_t>(1 + i % 251);
  const std::vector<std::uint8_t> colour = as_colour(images);
  ASSERT_EQ(colour.size(), 2 * features);
  for (std::size_t image = 0; image < 2; ++image)
    for (std::size_t plane = 0; plane < 3; ++plane)
      for (std::size_t y = 0; y < 32; ++y)
        for (std::size_t x = 0; x < 32; ++x) {
          const bool inside = y >= 2 && y < 30 && x >= 2 && x < 30;
          const std::uint8_t expected = inside ? images[(image * 28 + y - 2) * 28 + x - 2] : 0;
          ASSERT_EQ(colour[((image * 3 + plane) * 32 + y) * 32 + x], expected) << y << " " << x;
        }
}

}  // namespace
}  // namespace league::bench
