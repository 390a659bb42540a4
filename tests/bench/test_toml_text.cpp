// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include "bench/study/study.hpp"
#include "bench/study/toml_text.hpp"
#include "tests/bench/program.hpp"
#include "tests/bench/refusal.hpp"
#include "tests/bench/temporary.hpp"
#include "tests/runtime.hpp"

namespace league::bench {
namespace {

using tests::TemporaryFolder;

/// What a message says behind the name of the file.
std::string after_name(const std::string& message) {
  const std::size_t name = message.find("s.toml");
  return name == std::string::npos ? message : message.substr(name + 6);
}

TEST(TomlText, IsAStudyWithItsDefaultsAndSettingsInPlace) {
  const TemporaryFolder folder;
  const auto study =
      folder.write("study.toml",
                   "samples = 3\nexpect = {}\n[[cases]]\nalgorithm = ['sum', \"vector_add\"]\nsizes = [{n = 1}, "
                   "2]\n[[cases]]\nalgorithm = 'polynomial_fit'\nlearning_rate = 1e300\nnull = false\n");
  const tests::Outcome printed =
      tests::run("league", {"run", study.string(), "--print-study", "--set", "sum.launches=auto", "--set", "sizes.n=7"},
                 folder.path());
  EXPECT_EQ(printed.code, 0) << printed.err;
  EXPECT_EQ(
      printed.out,
      "[[cases]]\nalgorithm = \"sum\"\nsamples = 3\nexpect = {}\nsizes = [{n = 1}, 2]\nlaunches = \"auto\"\n"
      "\"sizes.n\" = 7\n\n[[cases]]\nalgorithm = \"vector_add\"\nsamples = 3\nexpect = {}\nsizes = [{n = 1}, 2]\n"
      "\"sizes.n\" = 7\n\n[[cases]]\nalgorithm = \"polynomial_fit\"\nsamples = 3\nexpect = {}\nlearning_rate = 1e+300\n"
      "null = false\n");
}

TEST(TomlText, NeedsNoDataFiles) {
  const TemporaryFolder folder;
  const auto study = folder.write("study.toml", "[[cases]]\nalgorithm = \"knn\"\ndataset = [\"mnist\", \"cifar10\"]\n");
  const auto league = [&](const std::string& option) {
    return tests::run("league", {"run", study.string(), option, "--data", folder.path().string()}, folder.path());
  };
  const tests::Outcome printed = league("--print-study");
  EXPECT_EQ(printed.code, 0) << printed.err;
  EXPECT_EQ(printed.out, "[[cases]]\nalgorithm = \"knn\"\ndataset = [\"mnist\", \"cifar10\"]\n");
  EXPECT_EQ(league("--dry-run").code, 2) << "the sizes of its cases are those of the files";
}

TEST(TomlText, ReadsBackAsTheSameValue) {
  const std::string value =
      "{\"a b\" = [true, -1, 1.0, 1e-07, \"\\\"\\\\\\u000A\\u007F\xC3\xA9\"], c-d_3 = {}, \"\" = inf}";
  EXPECT_EQ(toml_text(read_value(value, "here")), value);
}

TEST(TomlText, LettersStandInStringsAndComments) {
  EXPECT_TRUE(refusal([] { read_value("\xC3\xA9", "--set x"); }).starts_with("--set x: '\xC3\xA9' is neither"));
  const TemporaryFolder folder;
  const auto read = [&](const std::string& text) {
    const auto file = folder.write("s.toml", text);
    return after_name(refusal([&] { read_toml(file); }));
  };
  EXPECT_TRUE(read("a = 1\nb = \xC3\xA9\n").starts_with(":2: `b`: "));
  EXPECT_EQ(read("a = '\xC3\xA9' # \xC3\xA9\nb = \"\xC3\xA9\"\n"), "accepted");
}

TEST(TomlText, ListsMakeNoMoreCasesThanAStudyMayHave) {
  std::string many = "1";
  for (int i = 2; i <= 400; ++i) many += ", " + std::to_string(i);
  const TemporaryFolder folder;
  Datasets datasets({}, tests::runtime().host_memory());
  const auto refused = [&](const std::string& text) {
    const auto file = folder.write("s.toml", "algorithm = 'vector_add'\nmodels = 'serial'\n" + text);
    const std::string what = refusal([&] { static_cast<void>(read_study(file, {}, tests::runtime(), datasets)); });
    return after_name(what);
  };
  const std::string end =
      "` makes more than 100000 cases with the lists beside it: shorten one, or make several studies of it";
  EXPECT_EQ(refused("sizes = 1\nseed = [" + many + "]\nsamples = [" + many + "]\n"), ":1: `algorithm" + end);
  EXPECT_EQ(refused("sizes = [" + many + "]\n\"sizes.n\" = [" + many + "]\n"), "accepted");
  EXPECT_EQ(refused("sizes = 1\nlaunches = {league = [" + many + "], team = [" + many + "]}\n"),
            ":4: `launches.team" + end);
}

}  // namespace
}  // namespace league::bench
