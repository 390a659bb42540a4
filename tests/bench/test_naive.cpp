// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <algorithm>

#include "bench/study/study.hpp"
#include "tests/bench/temporary.hpp"
#include "tests/runtime.hpp"

// Naive methods, the lower rungs of a ladder, are in a study only by name.
namespace league::bench {
namespace {

class Naive : public ::testing::Test {
 protected:
  /// The methods of a study of the sum, each once, in their order.
  std::vector<std::string> methods(const std::string& key) {
    const std::string text = "algorithm = \"sum\"\nmodels = \"kokkos\"\nsizes = 8\n" + key + "\n";
    std::vector<std::string> names;
    for (const Comparison& comparison :
         read_study(folder_.write("study.toml", text), {}, league::tests::runtime(), datasets_).comparisons)
      for (const Case& that : comparison.cases)
        if (std::ranges::find(names, that.method->name) == names.end()) names.push_back(that.method->name);
    return names;
  }
  static bool any_naive(const std::vector<std::string>& names) {
    return std::ranges::any_of(registry().algorithm("sum")->methods, [&](const Method& method) {
      return method.naive && std::ranges::find(names, method.name) != names.end();
    });
  }

  const tests::TemporaryFolder folder_;
  Datasets datasets_{{}, league::tests::runtime().host_memory()};
};

TEST_F(Naive, MethodsAreLeftOutUnlessNamed) {
  for (const char* key : {"", "methods = \"all\"", "methods = \"-atomic\"", "methods = [\"-one_thread\"]"}) {
    const std::vector<std::string> names = methods(key);
    EXPECT_FALSE(names.empty()) << key;
    EXPECT_FALSE(any_naive(names)) << key;
  }
}

TEST_F(Naive, MethodsKeepTheOrderInWhichTheyAreNamed) {
  const std::vector<std::string> expected{"tree_divergent", "one_thread", "two_stage"};
  EXPECT_EQ(methods("methods = [\"tree_divergent\", \"one_thread\", \"two_stage\"]"), expected);
}

}  // namespace
}  // namespace league::bench
