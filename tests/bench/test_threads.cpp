// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include "bench/errors.hpp"
#include "bench/study/models.hpp"
#include "bench/study/study.hpp"
#include "tests/bench/temporary.hpp"
#include "tests/runtime.hpp"

namespace league::bench {
namespace {

const std::string text = "algorithm = \"vector_add\"\nmethods = \"plain\"\nsizes = 8\nlaunches = \"auto\"\n";

Study read(const std::string& more) {
  const tests::TemporaryFolder folder;
  Datasets datasets{{}, tests::runtime().host_memory()};
  return read_study(folder.write("study.toml", text + more), {}, tests::runtime(), datasets);
}

TEST(Threads, AreAnAxisOfHosts) {
  std::vector<std::string> names;
  for (const Comparison& comparison : read("models = [\"openmp\", \"cuda\"]\nthreads = [1, 2]\n").comparisons)
    for (const Case& that : comparison.cases) names.push_back(that.name);
  const std::string rest = "/devices:1/launch:auto";
  EXPECT_EQ(names, (std::vector<std::string>{"vector_add/method:plain/model:openmp/dtype:f32/n:8/threads:1" + rest,
                                             "vector_add/method:plain/model:openmp/dtype:f32/n:8/threads:2" + rest,
                                             "vector_add/method:plain/model:cuda/dtype:f32/n:8" + rest}))
      << "a GPU's case has no threads, and is there once";
}

TEST(Threads, MoreThanThereAreAreASkippedRow) {
  const Study study = read("models = \"openmp\"\nthreads = [1, 4000]\n");
  ASSERT_EQ(study.comparisons.size(), 2);
  const Case &one = study.comparisons[0].cases[0], &many = study.comparisons[1].cases[0];
  EXPECT_EQ(many.comparison, "vector_add/dtype:f32/n:8/threads:4000/devices:1");
  EXPECT_EQ(one.skip, "");
  EXPECT_NE(many.skip.find("needs 4000 threads"), std::string::npos);
  EXPECT_EQ(devices_of(tests::runtime(), one).front().threads, 1);
}

TEST(Threads, SerialTakesOne) {
  const Study study = read("models = \"serial\"\nthreads = [1, 2]\n");
  ASSERT_EQ(study.comparisons.size(), 2);
  EXPECT_EQ(study.comparisons[0].cases[0].skip, "");
  EXPECT_NE(study.comparisons[1].cases[0].skip, "");
}

TEST(Threads, NoneIsRefused) { EXPECT_THROW(read("models = \"openmp\"\nthreads = 0\n"), BadInput); }

}  // namespace
}  // namespace league::bench
