// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "bench/data/dataset.hpp"
#include "bench/data/source.hpp"
#include "tests/bench/program.hpp"
#include "tests/bench/refusal.hpp"
#include "tests/bench/temporary.hpp"

// MNIST's and Fashion-MNIST's files have the same names: neither is ever taken for the other.
namespace league::bench {
namespace {

namespace fs = std::filesystem;
using tests::TemporaryFolder;

const std::string images = "train-images-idx3-ubyte", labels = "train-labels-idx1-ubyte";
const std::vector<std::uint8_t> first_of_mnist{7, 2, 1, 0, 4, 1, 4, 9, 5, 9},
    first_of_fashion{9, 2, 1, 1, 6, 1, 4, 6, 5, 7};

/// An IDX file whose values are all 0 but for the first.
std::string idx(const std::vector<std::uint8_t>& extents, const std::vector<std::uint8_t>& first = {}) {
  std::string bytes{'\0', '\0', '\x08', static_cast<char>(extents.size())};
  std::size_t size = 1;
  for (const std::uint8_t extent : extents) {
    bytes += std::string(3, '\0') + static_cast<char>(extent);
    size *= extent;
  }
  for (std::size_t i = 0; i < size; ++i) bytes += static_cast<char>(i < first.size() ? first[i] : 0);
  return bytes;
}

class SourceFiles : public ::testing::Test {
 protected:
  /// The file in a folder of this name.
  void write(const std::string& folder, const std::string& name, const std::string& content = "") const {
    fs::create_directories(folder_.path() / folder);
    folder_.write(folder + "/" + name, content);
  }
  void write_dataset(const std::string& folder, std::uint8_t rows,
                     const std::vector<std::uint8_t>& first = {0, 1}) const {
    for (const std::string part : {"train", "t10k"}) {
      write(folder, part + "-images-idx3-ubyte", idx({rows, 2, 2}));
      write(folder, part + "-labels-idx1-ubyte", idx({rows}, first));
    }
  }
  /// Where the file is found, from the temporary folder on; "none" if it is not.
  [[nodiscard]] std::string found(const std::string& dataset, const std::string& folder) const {
    try {
      return fs::relative(find_file(source_of(dataset), folder_.path() / folder, images), folder_.path()).string();
    } catch (const BadInput&) {
      return "none";
    }
  }
  [[nodiscard]] Selection resolve(const std::string& dataset, const std::string& folder = {}) const {
    return Datasets(folder_.path() / folder, *std::pmr::new_delete_resource()).resolve({.dataset = dataset});
  }
  TemporaryFolder folder_;
};

TEST_F(SourceFiles, InOneFolderAreFoundBySource) {
  write_dataset("mnist", 4);
  write_dataset("fashion-mnist", 8);
  Datasets datasets(folder_.path(), *std::pmr::new_delete_resource());
  EXPECT_EQ(datasets.resolve({.dataset = "mnist"}).train, 6);
  EXPECT_EQ(datasets.resolve({.dataset = "fashion_mnist"}).train, 12);
  EXPECT_EQ(datasets.resolve({.dataset = "mnist_t10k"}).train, 3);
  EXPECT_EQ(datasets.hashes().size(), 8U);
  EXPECT_NE(datasets.hashes().at("mnist/" + labels), datasets.hashes().at("fashion-mnist/" + labels));
}

TEST_F(SourceFiles, LieInSubfoldersOfTheirNames) {
  write("fashion_mnist", images);
  EXPECT_EQ(found("fashion_mnist", ""), "fashion_mnist/" + images);
  EXPECT_EQ(found("mnist", ""), "none");
  write("fashion-mnist", images + ".gz");
  EXPECT_EQ(found("fashion_mnist", ""), "fashion-mnist/" + images + ".gz");
  write("data/mnist", images);
  EXPECT_EQ(found("mnist", "data"), "data/mnist/" + images);
  EXPECT_EQ(found("fashion_mnist", "data"), "none");
}

TEST_F(SourceFiles, LieWhereTorchvisionPutsThem) {
  write("data/MNIST/raw", images);
  EXPECT_EQ(found("fashion_mnist", "data"), "none");
  write("data/FashionMNIST/raw", images + ".gz");
  EXPECT_EQ(found("mnist", "data"), "data/MNIST/raw/" + images);
  EXPECT_EQ(found("fashion_mnist", "data"), "data/FashionMNIST/raw/" + images + ".gz");
}

TEST_F(SourceFiles, OfAFolderBelongToTheSourceOfItsName) {
  for (const std::string folder : {"fashion-mnist", "Fashion", "FashionMNIST", "my_fashion_data"}) {
    write(folder, images);
    for (const std::string& given : {folder, folder + "/", folder + "/.", folder + "/../" + folder}) {
      EXPECT_EQ(found("fashion_mnist", given), folder + "/" + images) << given;
      EXPECT_EQ(found("mnist", given), "none") << given;
    }
  }
  for (const std::string folder : {"mnist", "data", "fashion/data", "fashion/mnist"}) {
    write(folder, images);
    EXPECT_EQ(found("mnist", folder), folder + "/" + images);
    EXPECT_EQ(found("fashion_mnist", folder), "none") << folder;
  }
}

TEST_F(SourceFiles, BehindALinkBelongToTheSourceOfEitherName) {
  write("store", images);
  write("fashion-store", images);
  fs::create_directory_symlink(folder_.path() / "store", folder_.path() / "fashion-link");
  fs::create_directory_symlink(folder_.path() / "fashion-store", folder_.path() / "link");
  for (const std::string link : {"fashion-link", "link"}) {
    EXPECT_NE(found("fashion_mnist", link), "none") << link;
    EXPECT_EQ(found("mnist", link), "none") << link;
  }
}

TEST_F(SourceFiles, WithTheLabelsOfTheOtherSourceAreRefused) {
  const auto part = [&](const std::string& folder, const std::vector<std::uint8_t>& first) {
    write(folder, "t10k-images-idx3-ubyte", idx({12, 2, 2}));
    write(folder, "t10k-labels-idx1-ubyte", idx({12}, first));
  };
  part("data", first_of_fashion);
  std::string message = refusal([&] { static_cast<void>(resolve("mnist_t10k", "data")); });
  EXPECT_NE(message.find("t10k-labels-idx1-ubyte: at byte 8: these are the labels of Fashion-MNIST, not of MNIST"),
            std::string::npos)
      << message;
  part("data", first_of_mnist);
  EXPECT_EQ(resolve("mnist_t10k", "data").train, 9);

  write_dataset("fashion", 12);
  part("fashion", first_of_mnist);
  message = refusal([&] { static_cast<void>(resolve("fashion_mnist", "fashion")); });
  EXPECT_NE(message.find("these are the labels of MNIST, not of Fashion-MNIST"), std::string::npos) << message;
  part("fashion", first_of_fashion);
  EXPECT_EQ(resolve("fashion_mnist", "fashion").train, 18);
}

TEST_F(SourceFiles, ThatAreMissingSayWhatToDo) {
  write("mnist", images);
  const std::string message = refusal([&] { static_cast<void>(resolve("fashion_mnist")); });
  for (const std::string& part :
       {"no file '" + images + "' of Fashion-MNIST", std::string("--data DIR or LEAGUE_DATA"),
        std::string("dataset-fashion-mnist"), std::string("bench/setup --fashion-mnist"),
        std::string("if its name has 'fashion' in it"), (folder_.path() / "fashion-mnist").string()})
    EXPECT_NE(message.find(part), std::string::npos) << part << ": " << message;
  EXPECT_EQ(message.find("\n  /usr"), std::string::npos) << "a folder that is given is the only one: " << message;
}

TEST(Source, IsLookedForOnlyWhereTheUserIsToldOf) {
  const char* variable = std::getenv("LEAGUE_DATA");
  const std::string kept = variable == nullptr ? "" : variable;
  unsetenv("LEAGUE_DATA");
  const std::string message = refusal([] { find_file(source_of("cifar10"), {}, "no such file"); });
  if (variable != nullptr) setenv("LEAGUE_DATA", kept.c_str(), 1);
  std::istringstream lines(message.substr(message.find("Looked in:")));
  std::string line;
  int places = 0;
  for (std::getline(lines, line); std::getline(lines, line); ++places)
    EXPECT_EQ(fs::path(line.substr(2)).parent_path().filename(), "data") << line;
  EXPECT_TRUE(places >= 3 && places <= 6) << "three names here and in the project: " << message;
}

TEST_F(SourceFiles, OfSimilarNamesAreTold) {
  write("mnist", "train-images.idx3-ubyte");
  const std::string message = refusal([&] { find_file(source_of("mnist"), folder_.path(), images); });
  EXPECT_NE(message.find("There is " + (folder_.path() / "mnist/train-images.idx3-ubyte").string() + ": rename it."),
            std::string::npos)
      << message;
}

TEST_F(SourceFiles, OfOneClassAreRefused) {
  write_dataset("mnist", 10, std::vector<std::uint8_t>(10, 3));
  const std::string message = refusal([&] { static_cast<void>(resolve("mnist")); });
  EXPECT_NE(message.find("train-labels-idx1-ubyte: all of its 10 labels are 3: "), std::string::npos) << message;
}

TEST_F(SourceFiles, AreLookedForInTheFolderOfTheVariable) {
  if (!tests::has_program("league")) GTEST_SKIP() << "no league beside this program";
  const std::string study =
      "algorithm = \"knn\"\nmethods = \"direct\"\nmodels = \"serial\"\ndataset = [\"mnist\", \"fashion_mnist\"]\n";
  const std::vector<std::string> words{"run", folder_.write("study.toml", study).string(), "--dry-run"};
  const auto shown = [&](const std::string& folder) {
    const tests::Outcome outcome = tests::run("league", words, folder_.path(),
                                              [&] { setenv("LEAGUE_DATA", (folder_.path() / folder).c_str(), 1); });
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome.out;
  };
  write_dataset("data/mnist", 4);
  write_dataset("data/fashion-mnist", 8);
  const std::string out = shown("data");
  EXPECT_NE(out.find("train:6"), std::string::npos) << out;
  EXPECT_NE(out.find("train:12"), std::string::npos) << out;
}

TEST(FashionMnist, OfThePackageIsRead) {
  if (!fs::exists("/usr/share/datasets/fashion-mnist/" + images + ".gz"))
    GTEST_SKIP() << "needs the Debian package dataset-fashion-mnist (bench/setup --fashion-mnist)";
  Datasets datasets({}, *std::pmr::new_delete_resource());
  const Selection selection = datasets.resolve({.dataset = "fashion_mnist"});
  EXPECT_EQ(selection.train, 52500);
  EXPECT_EQ(selection.test, 17500);
  EXPECT_EQ(selection.features, 784);
  const Dataset& data = datasets.rows(selection);
  EXPECT_EQ(data.classes, 10);
  std::vector<int> images_of(10);
  for (const HostArray* side : {&data.train_labels, &data.test_labels})
    for (const std::int32_t label : side->values<const std::int32_t>()) ++images_of.at(static_cast<std::size_t>(label));
  EXPECT_EQ(images_of, std::vector<int>(10, 7000));
}

}  // namespace
}  // namespace league::bench
