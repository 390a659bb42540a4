// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <thread>

#include "bench/errors.hpp"
#include "tests/bench/temporary.hpp"
#include "tests/bench/tuned.hpp"

namespace league::bench {
namespace {

using tests::TemporaryFolder, tests::read_file;

const DeviceInfo h200{.device = {DeviceKind::gpu, 0, 1}, .name = "NVIDIA \"H200\""};

class TunedFileTest : public ::testing::Test {
 protected:
  TunedFile read() { return TunedFile::read(path_, h200); }
  /// What a file is refused with.
  std::string refusal(const std::string& text) {
    folder_.write("nvidia_h200_.toml", text);
    try {
      read();
    } catch (const BadInput& error) {
      return error.what();
    }
    return "accepted";
  }
  TemporaryFolder folder_;
  std::filesystem::path path_ = folder_.path() / tuned_file_name(h200);
};

TEST_F(TunedFileTest, ReadsBackWhatItWrote) {
  EXPECT_EQ(tuned_file_name(h200), "nvidia_h200_.toml");
  TunedFile file = read();
  TunedKey several = key("cuda", 64);
  several.devices = 2;
  several.communicator = "nccl";
  several.parameters = {{"k", "3"}, {"votes", "eps"}};
  TunedEntry skipped = entry(key("kokkos", 64), {});
  skipped.skipped = "needs 16 GB,\nbudget \"11 GB\"";
  file.merge(
      {"1", {{"git", "abc"}, {"driver", "13.0"}}},
      {entry(key("kokkos", 32), {.team = 128}), entry(key("cuda", 32), {}), entry(several, {2, 4, 8, 16}), skipped});
  file.write(path_);
  const TunedFile back = read();
  EXPECT_EQ(back.text(), file.text());
  EXPECT_EQ(back.text(), read_file(path_));
  ASSERT_EQ(back.entries().size(), 4U);
  EXPECT_EQ(back.entries()[0].key, key("cuda", 32));
  EXPECT_EQ(back.entries()[0].best, Launch{});
  EXPECT_EQ(back.entries()[1].best, Launch{.team = 128});
  EXPECT_EQ(back.entries()[1].automatic, (Launch{4, 256, 1, 1024}));
  EXPECT_EQ(back.entries()[1].best_s, 1.5e-6);
  EXPECT_EQ(back.entries()[1].refused, 3);
  EXPECT_EQ(back.entries()[2].skipped, skipped.skipped);
  EXPECT_EQ(back.entries()[3].key, several);
  EXPECT_EQ(back.entries()[3].best, (Launch{2, 4, 8, 16}));
  EXPECT_NE(back.text().find("gain = 1.333\n"), std::string::npos);
  EXPECT_EQ(back.searches().at(0).facts.at(1), (std::pair<std::string, std::string>("driver", "13.0")));
}

TEST_F(TunedFileTest, ReplacesWhatWasMeasuredAnewAndKeepsTheRest) {
  TunedFile file = read();
  file.merge({"1", {}}, {entry(key("kokkos", 32), {.team = 1}), entry(key("cuda", 32), {.team = 2})});
  file.merge({"2", {}}, {entry(key("kokkos", 32), {.team = 3})});
  ASSERT_EQ(file.entries().size(), 2U);
  EXPECT_EQ(file.entries()[0].search, "1");
  EXPECT_EQ(file.entries()[1].best.team, 3);
  EXPECT_EQ(file.searches().size(), 2U);
  file.merge({"3", {}}, {entry(key("cuda", 32), {.team = 4})});
  ASSERT_EQ(file.searches().size(), 2U) << "nothing of the first search is left";
  EXPECT_EQ(file.searches()[0].id, "2");
}

TEST_F(TunedFileTest, SearchesSideBySideLoseNothing) {
  std::vector<std::jthread> searches;
  for (int search = 0; search < 8; ++search)
    searches.emplace_back([this, search] {
      for (int n = 0; n < 10; ++n)
        TunedFile::update(path_, h200, {std::to_string(search), {}}, {entry(key("cuda", 10 * search + n), {})});
    });
  searches.clear();
  EXPECT_EQ(read().entries().size(), 80U);
  EXPECT_EQ(read().searches().size(), 8U);
}

TEST_F(TunedFileTest, NamesFileLineAndKeyOfWhatIsWrong) {
  const std::string head = "device = \"NVIDIA \\\"H200\\\"\"\n[searches.1]\n[[tuned]]\n";
  const std::string work = "algorithm = \"a\"\nmethod = \"m\"\nmodel = \"kokkos\"\ndtype = \"f32\"\nsearch = \"1\"\n";
  const std::string times = "automatic = \"auto\"\nautomatic_s = 1\nbest_s = 1\n";
  const auto expect = [&](const std::string& text, const std::string& part) {
    const std::string message = refusal(text);
    EXPECT_NE(message.find("nvidia_h200_.toml"), std::string::npos) << message;
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  expect("device = \"another\"\n", ":1: `device` is 'another'");
  expect("devise = 1\n", ":1: `the file.devise` is not known here; did you mean 'device'");
  expect("device = \n", ":1: `device`");
  expect(head + "algorithm = \"a\"\n", ":3: `tuned` has no `dtype`");
  expect(head + work + "sizes = 3\n", ":9: `tuned.sizes` takes a table");
  expect(head + work + "sizes = { n = \"much\" }\n", ":9: `sizes.n` takes integers");
  expect(head + work + times + "sizes = { n = 1 }\nbest = \"fast\"\n", ":13: `tuned.best` is 'fast'");
  expect(head + work + times + "sizes = { n = 1 }\nbest = { team = -1 }\n", ":13: `tuned.best.team` is -1");
  expect(head + work + times + "sizes = { n = 1 }\n", ":3: `tuned` has no `best`");
  expect("device = \"NVIDIA \\\"H200\\\"\"\n[[tuned]]\n" + work + times + "best = \"auto\"\nsizes = { n = 1 }\n",
         ":7: `tuned.search` names none");
  const std::string whole = work + times + "best = \"auto\"\nsizes = { n = 1 }\n";
  EXPECT_EQ(refusal(head + whole), "accepted");
  expect(head + whole + "[[tuned]]\n" + whole, ":14: `tuned` has the same");
}

}  // namespace
}  // namespace league::bench
