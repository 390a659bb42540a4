// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <iostream>

#include "tests/bench/temporary.hpp"
#include "tests/fuzz/target.hpp"

// What fuzzers have found, and what they begin with, fed to each parser again.
namespace league::fuzz {
namespace {

namespace fs = std::filesystem;

/// Parsers may print: help, what a folder holds.
class Fuzz : public ::testing::Test {
 protected:
  Fuzz() : out_(std::cout.rdbuf(nullptr)), err_(std::cerr.rdbuf(nullptr)) {}
  ~Fuzz() override { std::cout.rdbuf(out_), std::cerr.rdbuf(err_); }

 private:
  std::streambuf *out_, *err_;
};

TEST_F(Fuzz, ParsersTakeOrRefuseWhatWasFoundBefore) {
  std::set<std::string> fed;
  for (const auto& folder : fs::directory_iterator("tests/fuzz/corpus")) {
    const std::string name = folder.path().filename();
    ASSERT_TRUE(targets().contains(name)) << "tests/fuzz/corpus/" << name << " is the folder of no target";
    for (const auto& file : fs::directory_iterator(folder)) {
      SCOPED_TRACE(file.path());
      EXPECT_NO_THROW(targets().at(name).feed(tests::read_file(file.path())));
      fed.insert(name);
    }
  }
  EXPECT_FALSE(fed.empty());
}

TEST_F(Fuzz, ParsersTakeTheirSeeds) {
  for (const auto& [name, target] : targets()) {
    SCOPED_TRACE(name);
    for (const std::string& seed : target.seeds()) EXPECT_NO_THROW(target.feed(seed)) << seed;
    for (const std::string& parser : target.parser) EXPECT_TRUE(fs::exists(parser)) << parser;
  }
}

}  // namespace
}  // namespace league::fuzz
