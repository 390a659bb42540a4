// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <set>

#include "bench/data/dataset.hpp"
#include "bench/data/idx.hpp"
#include "bench/data/shuffle.hpp"
#include "bench/files.hpp"
#include "tests/bench/refusal.hpp"
#include "tests/bench/temporary.hpp"

namespace league::bench {
namespace {

using tests::TemporaryFolder, tests::read_file;

std::string big_endian(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xff);
  return bytes;
}

/// An IDX file of unsigned bytes 0, 1, 2, ...
std::string idx(const std::vector<std::uint32_t>& extents, std::size_t values) {
  std::string bytes{'\0', '\0', '\x08', static_cast<char>(extents.size())};
  for (const std::uint32_t extent : extents) bytes += big_endian(extent);
  for (std::size_t i = 0; i < values; ++i) bytes += static_cast<char>(i);
  return bytes;
}

std::string gzipped(const std::string& bytes, const TemporaryFolder& folder) {
  const std::string file = (folder.path() / "packed").string();
  gzFile packed = gzopen(file.c_str(), "wb");
  gzwrite(packed, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(packed);
  return read_file(file);
}

/// A gzip file whose data are stored as they are: of less than 64 KiB, they begin at byte 15.
constexpr std::size_t stored_at = 15;
std::string stored(const std::string& bytes) {
  std::string packed(bytes.size() + 64, '\0');
  z_stream stream{};
  deflateInit2(&stream, Z_NO_COMPRESSION, Z_DEFLATED, 16 + MAX_WBITS, 9, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<unsigned>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<unsigned>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

TEST(Idx, ReadsPlainAndGzippedFiles) {
  const TemporaryFolder folder;
  const std::string bytes = idx({2, 3, 2}, 12);
  for (const std::string& content : {bytes, gzipped(bytes, folder)}) {
    const Idx read = read_idx(folder.write("images", content), 3);
    EXPECT_EQ(read.extents, (std::vector<std::int64_t>{2, 3, 2}));
    EXPECT_EQ(read.values, (std::vector<std::uint8_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
  }
}

TEST(Idx, ReadsGzipFilesBehindEachOther) {
  const TemporaryFolder folder;
  const std::string bytes = idx({2, 3, 2}, 12);
  const std::string packed = gzipped(bytes.substr(0, 18), folder) + stored(bytes.substr(18));
  for (const char* more : {"", "no data", "\0\0"})
    EXPECT_EQ(read_idx(folder.write("images", packed + more), 3).values.back(), 11) << more;
}

TEST(Idx, NamesTheOffsetWherePackedDataEnd) {
  const TemporaryFolder folder;
  const std::string bytes = idx({50, 30, 20}, 30000), packed = stored(bytes);
  ASSERT_EQ(packed.size(), stored_at + bytes.size() + 8);
  const auto expect = [&](const std::string& content, std::size_t offset, const std::string& part) {
    const std::string message = refusal([&] { read_idx(folder.write("bad-images", content), 3); });
    EXPECT_NE(
        message.find("bad-images: at byte " + std::to_string(offset) + ": the gzip data are damaged or cut short"),
        std::string::npos)
        << message;
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  expect(packed.substr(0, 10), 0, "end too early");
  expect(packed.substr(0, stored_at + 9), 9, "end too early");
  expect(packed.substr(0, stored_at + 12345), 12345, "end too early");
  std::string wrong = packed;
  wrong[stored_at + 777] ^= 1;
  expect(wrong, bytes.size(), "incorrect data check");
  const std::string second = stored(bytes.substr(0, 100)) + packed.substr(0, stored_at + 200);
  expect(second, 300, "end too early");
}

TEST(Idx, RefusesMoreValuesThanThereIsMemoryFor) {
  const TemporaryFolder folder;
  const std::string bytes = idx({0x7fffffff, 0x7fffffff, 1}, 3);
  for (const std::string& content : {bytes, gzipped(bytes, folder)}) {
    const std::string message = refusal([&] { read_idx(folder.write("large-images", content), 3); });
    EXPECT_NE(message.find("large-images: at byte 4: the header promises 4.61e+06 TB of values"), std::string::npos)
        << message;
    EXPECT_NE(message.find(" are free"), std::string::npos) << message;
  }
}

TEST(Idx, RefusesWhatIsWrongNamingFileAndOffset) {
  const TemporaryFolder folder;
  const std::string good = idx({2, 3, 2}, 12), packed = gzipped(idx({200, 30, 20}, 120000), folder);
  const auto expect = [&](const std::string& content, const std::string& part) {
    const std::filesystem::path file = folder.write("bad-images", content);
    const std::string message = refusal([&] { read_idx(file, 3); });
    EXPECT_NE(message.find("bad-images: at byte "), std::string::npos) << message;
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  expect("", "byte 0: the file ends within its header");
  expect(good.substr(0, 9), "byte 9: the file ends within its header");
  expect("PK" + good.substr(2), "byte 0: no IDX file");
  expect("<!DOCTYPE html>", "byte 0: no IDX file: it is a page that a server has sent");
  expect("version https://git-lfs.github.com/spec/v1\n",
         "byte 0: a pointer of Git LFS in the place of the file: fetch it");
  expect(gzipped(packed, folder), "byte 0: no IDX file: it was compressed twice");
  expect(std::string("\0\0\x0d\x03", 4) + good.substr(4), "byte 2: holds values of type 13");
  expect(idx({7}, 7), "byte 3: has 1 dimensions, not 3: are images and labels swapped?");
  expect(idx({0xffffffff, 0xffffffff, 0xffffffff}, 3), "byte 4: the dimensions are impossible");
  expect(idx({10000, 28, 28}, 100), "byte 116: the file ends, but its header promises 7840000 values");
  expect(good + "x", "goes on after the last of its 12 values");
  expect(packed.substr(0, packed.size() / 2), "damaged or cut short");
  std::string corrupt = packed;
  corrupt[corrupt.size() / 2] ^= 0x55;
  expect(corrupt, "damaged or cut short");
  EXPECT_NE(refusal([&] { read_idx(folder.path() / "none", 3); }).find("cannot open"), std::string::npos);
}

class DataFiles : public ::testing::Test {
 protected:
  void write(const std::string& part, std::uint32_t images, std::uint32_t labels, std::uint32_t width = 2) const {
    folder_.write(part + "-images-idx3-ubyte", idx({images, 2, width}, std::size_t{images} * 2 * width));
    folder_.write(part + "-labels-idx1-ubyte", idx({labels}, labels));
  }
  Selection resolve(const Selection& selection) { return Datasets(folder_.path(), memory_).resolve(selection); }

  TemporaryFolder folder_;
  std::pmr::memory_resource& memory_ = *std::pmr::new_delete_resource();
};

TEST_F(DataFiles, AreSplitAsScikitLearnDoes) {
  write("t10k", 10, 10);
  Datasets datasets(folder_.path(), memory_);
  Selection selection = datasets.resolve({.dataset = "mnist_t10k"});
  EXPECT_EQ(selection.train, 7);
  EXPECT_EQ(selection.test, 3);
  EXPECT_EQ(selection.features, 4);
  const Dataset& data = datasets.rows(selection);
  const auto test = data.test_labels.values<const std::int32_t>(),
             train = data.train_labels.values<const std::int32_t>();
  EXPECT_EQ(std::vector(test.begin(), test.end()), (std::vector<std::int32_t>{8, 1, 5}));
  EXPECT_EQ(std::vector(train.begin(), train.end()), (std::vector<std::int32_t>{0, 7, 2, 9, 4, 3, 6}));
  EXPECT_EQ(data.test.values<const std::uint8_t>()[0], 32);
  EXPECT_EQ(data.classes, 10);
  selection.train = 2;
  selection.split = "file";
  EXPECT_EQ(datasets.rows(datasets.resolve(selection)).train_labels.values<const std::int32_t>()[1], 1);
  EXPECT_EQ(datasets.rows(selection).test_labels.values<const std::int32_t>()[0], 7);
}

TEST_F(DataFiles, AreNormalizedWhereTheStudyAsksForIt) {
  write("train", 9, 9);
  write("t10k", 3, 3);
  Datasets datasets(folder_.path(), memory_);
  const Selection pixels = datasets.resolve({.dataset = "mnist"});
  const auto values = datasets.rows(pixels).test;
  const Dataset numbers = datasets.rows(datasets.resolve({.dataset = "mnist_normalized"}));
  ASSERT_EQ(numbers.test.dtype(), Dtype::f32);
  ASSERT_EQ(numbers.test.shape(), values.shape());
  for (std::size_t i = 0; i < static_cast<std::size_t>(values.size()); ++i)
    EXPECT_FLOAT_EQ(numbers.test.values<const float>()[i],
                    (static_cast<float>(values.values<const std::uint8_t>()[i]) / 255 - 0.1307F) / 0.3081F);
}

TEST_F(DataFiles, AreHashedAndStayTheSameInARun) {
  write("train", 6, 6);
  write("t10k", 2, 2);
  Datasets datasets(folder_.path(), memory_);
  EXPECT_TRUE(datasets.hashes().empty());
  EXPECT_EQ(datasets.resolve({.dataset = "mnist_t10k"}).train, 1);
  const std::map<std::string, std::string> hashes = datasets.hashes();
  ASSERT_EQ(hashes.size(), 2U);
  EXPECT_EQ(hashes.at("mnist/t10k-labels-idx1-ubyte"), file_hash(folder_.path() / "t10k-labels-idx1-ubyte"));
  EXPECT_EQ(datasets.resolve({.dataset = "mnist"}).train, 6);
  EXPECT_EQ(datasets.hashes().size(), 4U);
  write("t10k", 3, 3);
  try {
    static_cast<void>(datasets.resolve({.dataset = "mnist_t10k"}));
    FAIL() << "other data under the same name";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("t10k-images-idx3-ubyte' has changed"), std::string::npos) << error.what();
  }
}

TEST_F(DataFiles, OfTwoPartsAreOneDataset) {
  write("train", 6, 6);
  write("t10k", 2, 2);
  EXPECT_EQ(resolve({.dataset = "mnist"}).train, 6);
  EXPECT_NE(refusal([&] { resolve({.dataset = "mnist", .train = 7}); }).find("7 training rows, but mnist has 6"),
            std::string::npos);
  EXPECT_NE(refusal([&] { resolve({.dataset = "mnist", .features = 9}); }).find("9 features, but mnist has 4"),
            std::string::npos);
}

TEST_F(DataFiles, HaveATestSetOfTheirOwn) {
  write("train", 9, 9);
  write("t10k", 2, 2);
  Datasets datasets(folder_.path(), memory_);
  const Selection whole = datasets.resolve({.dataset = "mnist", .split = "predefined"});
  EXPECT_EQ(whole.train, 9);
  EXPECT_EQ(whole.test, 2);
  const auto first_labels = [&](const Selection& selection) {
    const Dataset& data = datasets.rows(selection);
    return std::pair(data.train_labels.values<const std::int32_t>()[0],
                     data.test_labels.values<const std::int32_t>()[0]);
  };
  EXPECT_EQ(first_labels(whole), std::pair(0, 0)) << "each file counts from 0";
  EXPECT_EQ(first_labels(datasets.resolve({.dataset = "mnist", .split = "file"})), std::pair(0, 8));
  EXPECT_NE(refusal([&] {
              resolve({.dataset = "mnist", .split = "predefined", .test = 3});
            }).find("3 test rows, but mnist has 2"),
            std::string::npos);
  EXPECT_NE(refusal([&] {
              resolve({.dataset = "mnist_t10k", .split = "predefined"});
            }).find("asks for a predefined split, but mnist_t10k has none"),
            std::string::npos);
}

TEST_F(DataFiles, ThatDoNotFitAreRefused) {
  write("t10k", 10, 9);
  const std::string message = refusal([&] { resolve({.dataset = "mnist_t10k"}); });
  EXPECT_NE(message.find("t10k-images-idx3-ubyte: at byte 4: holds 10 images, but"), std::string::npos) << message;
  write("t10k", 0, 0);
  EXPECT_NE(refusal([&] { resolve({.dataset = "mnist_t10k"}); }).find("holds no images"), std::string::npos);
  write("t10k", 4, 4);
  write("train", 4, 4, 3);
  EXPECT_NE(refusal([&] { resolve({.dataset = "mnist"}); }).find("differ in size"), std::string::npos);
  EXPECT_NE(refusal([&] { resolve({.dataset = "mnist_rgb"}); }).find("mnist_rgb takes 28 x 28"), std::string::npos);
}

TEST_F(DataFiles, ThatAreMissingAreNamed) {
  const std::string message = refusal([&] { resolve({.dataset = "mnist"}); });
  EXPECT_NE(message.find("train-images-idx3-ubyte"), std::string::npos) << message;
  EXPECT_NE(message.find(folder_.path().string()), std::string::npos) << message;
}

TEST(Shuffle, IsNumpys) {
  EXPECT_EQ(numpy_permutation(10, 42), (std::vector<std::int64_t>{8, 1, 5, 0, 7, 2, 9, 4, 3, 6}));
  const std::vector<std::int64_t> mnist = numpy_permutation(70000, 42);
  EXPECT_EQ(std::vector(mnist.begin(), mnist.begin() + 5),
            (std::vector<std::int64_t>{46730, 48393, 41416, 34506, 43725}));
  EXPECT_EQ(std::set(mnist.begin(), mnist.end()).size(), mnist.size());
  EXPECT_TRUE(numpy_permutation(0, 1).empty());
  EXPECT_EQ(numpy_permutation(1, 1), std::vector<std::int64_t>{0});
}

TEST(Shuffle, GivesEveryRowToOneSide) {
  for (const std::int64_t n : {0, 1, 2, 3, 4, 5, 101})
    for (const bool shuffled : {false, true}) {
      const Split split = split_rows(n, quarter_of(n), shuffled, 3);
      std::set<std::int64_t> rows(split.train.begin(), split.train.end());
      rows.insert(split.test.begin(), split.test.end());
      EXPECT_EQ(static_cast<std::int64_t>(split.test.size()), (n + 3) / 4);
      EXPECT_EQ(static_cast<std::int64_t>(rows.size()), n);
      EXPECT_EQ(split.train.size() + split.test.size(), rows.size());
    }
}

}  // namespace
}  // namespace league::bench
