// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <algorithm>

#include "bench/errors.hpp"
#include "bench/try/description.hpp"
#include "bench/try/diagnosis.hpp"
#include "bench/try/own.hpp"
#include "bench/try/sanitizers.hpp"
#include "bench/try/text.hpp"
#include "tests/bench/temporary.hpp"

// The parts of `league try` that need no compiler; test_try.py runs the whole.
namespace league::bench {
namespace {

TEST(Own, IdentifiersAreReplacedWhole) {
  const auto change = [](const std::string& word) { return word == "T" ? std::string("float") : word; };
  EXPECT_EQ(with_identifiers("T x = Tx + T(a_T);", change), "float x = Tx + float(a_T);");
  EXPECT_TRUE(mentions("sum[i] += x", "sum"));
  EXPECT_FALSE(mentions("sums[i] += x", "sum"));
}

TEST(Own, TheFirstFindingNamesTheUsersLine) {
  const std::string address =
      "=====\n==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602 at pc 0x5\nWRITE of size 8\n"
      "    #0 0x5 in operator() /home/me/mine.cpp:12\n    #1 0x6 in run /home/me/mine.cpp:9\n";
  EXPECT_EQ(first_finding(address, "/home/me/mine.cpp"), "AddressSanitizer: heap-buffer-overflow, mine.cpp:12");
  const std::string memcheck =
      "========= COMPUTE-SANITIZER\n========= Invalid __global__ write of size 8 bytes\n"
      "=========     at add(const float *, double *, long)+0x80 in /home/me/mine.cu:5\n========= ERROR SUMMARY: 1 "
      "error\n";
  EXPECT_EQ(first_finding(memcheck, "mine.cu"), "Invalid __global__ write of size 8 bytes, mine.cu:5");
  EXPECT_EQ(first_finding("WARNING: ThreadSanitizer: data race (pid=7)\n", "mine.cpp"), "ThreadSanitizer: data race");
  EXPECT_EQ(first_finding("========= ERROR SUMMARY: 0 errors\n", "mine.cu"), "");
}

Outputs made_outputs(std::int64_t size) {
  return {{"sum", HostArray(*std::pmr::new_delete_resource(), Dtype::f64, {size}), {0, size}}};
}

TEST(Own, ADiagnosisTellsARaceFromALostRemainder) {
  Outputs outputs = made_outputs(8);
  double sum = 1;
  int written = 8;
  const auto compute = [&] {
    poison(outputs);
    for (int i = 0; i < written; ++i) outputs[0].values.values<double>()[static_cast<std::size_t>(i)] = sum;
  };
  compute();
  EXPECT_EQ(diagnose(outputs, compute), "");
  EXPECT_EQ(diagnose(outputs, [&] { sum += 1e-13, compute(); }), "") << "another order of additions";
  const std::string race = diagnose(outputs, [&] { sum += 0.25, compute(); });
  EXPECT_TRUE(race.starts_with("; not the same in every run: 8 of 8 values of `sum`, from [0] to [7]: a race")) << race;
  written = 5;
  compute();
  EXPECT_EQ(diagnose(outputs, compute), "; never written: 3 of 8 values of `sum`, from [5] to [7]: a lost remainder?");
}

TEST(Own, ValuesOfParametersAreComparedAsNumbers) {
  EXPECT_TRUE(means_same("0", "0.0"));
  EXPECT_TRUE(means_same("eps", "eps"));
  EXPECT_FALSE(means_same("eps", "uniform"));
  EXPECT_FALSE(means_same("0", "0.1"));
}

TEST(Own, EveryDescriptionHasWhatItsFunctionTakes) {
  const std::filesystem::path root = project_root();
  if (!std::filesystem::exists(root / "algorithms")) GTEST_SKIP() << "no sources here";
  for (const auto& folder : std::filesystem::directory_iterator(root / "algorithms")) {
    if (!std::filesystem::exists(folder.path() / "template.toml")) continue;
    const Algorithm* algorithm = registry().algorithm(folder.path().filename().string());
    if (algorithm == nullptr) continue;
    const Description description = read_description(root, algorithm->name);
    const auto has = [&](const std::string& key) {
      return std::ranges::find(algorithm->parameters, key, &Parameter::name) != algorithm->parameters.end();
    };
    for (const Argument& number : description.arguments_of(Argument::Role::number))
      EXPECT_TRUE(has(number.source)) << algorithm->name << ": " << number.name;
    for (const auto& [key, value] : description.only) EXPECT_TRUE(has(key)) << algorithm->name << ": " << key;
    for (const Language language : {Language::cuda, Language::kokkos})
      EXPECT_EQ(template_text(description, language).find('@'), std::string::npos) << "a kernel that is not there";
  }
  EXPECT_THROW(read_description(root, "cnn"), BadInput);
}

TEST(Own, MalformedDescriptionsAreBadInput) {
  const tests::TemporaryFolder folder;
  std::filesystem::create_directories(folder.path() / "algorithms/sum");
  const std::string rest = "does = \"adds\"\nsolve = \"\"\npython = \"\"\n";
  for (const char* wrong :
       {"inputs = [\"f32 x\"]\n", "inputs = [\"f16 x [n]\"]\n", "sizes = [\"n\"]\n", "numbers = 7\n", "only = 3\n"}) {
    folder.write("algorithms/sum/template.toml", rest + wrong);
    EXPECT_THROW(read_description(folder.path(), "sum"), BadInput) << wrong;
  }
}

}  // namespace
}  // namespace league::bench
