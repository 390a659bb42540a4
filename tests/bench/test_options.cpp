// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <limits>

#include "bench/cli/options.hpp"
#include "bench/study/nearest.hpp"
#include "tests/bench/refusal.hpp"

namespace league::bench {
namespace {

bool matches(const std::string& filter, const std::string& name) { return NameFilter(filter).matches(name); }

Options read(std::vector<const char*> words) {
  words.insert(words.begin(), "league");
  return read_options(static_cast<int>(words.size()), words.data());
}

TEST(Options, OfARun) {
  const Options options =
      read({"run", "a.toml", "--set", "samples=3", "--set", "sizes.n=4", "--team", "8", "--devices", "2",
            "--device-memory", "11GiB", "--benchmark_filter=knn", "--resume", "--records", "r"});
  EXPECT_EQ(options.command, Options::Command::run);
  EXPECT_EQ(options.study, "a.toml");
  EXPECT_EQ(options.assignments.size(), 4U);
  EXPECT_EQ(options.assignments[3].key, "launches");
  EXPECT_EQ(options.devices, 2);
  EXPECT_EQ(options.device_memory_bytes, std::int64_t{11} << 30);
  EXPECT_EQ(options.benchmark.filter, "knn");
  EXPECT_EQ(options.records, "r");
  EXPECT_TRUE(options.resume);
  EXPECT_TRUE(options.comparisons.empty());
  EXPECT_EQ(read({"run", "a.toml"}).records, "records");
  EXPECT_EQ(read({"run", "a.toml", "--device-memory", "2GB"}).device_memory_bytes, 2'000'000'000);
}

TEST(Options, NameComparisonsOfARunOrASearch) {
  for (const char* command : {"run", "tune"})
    EXPECT_EQ(read({command, "--comparison", "x/n:1", "a.toml", "--comparison", "y"}).comparisons,
              (std::vector<std::string>{"x/n:1", "y"}));
  EXPECT_THROW(read({"run", "a.toml", "--comparison"}), BadInput);
}

TEST(Options, SetNumbersOfBothKinds) {
  const Options options = read({"run", "a.toml", "--set", "learning_rate=5e-2", "--set", "learning_rate=1"});
  EXPECT_EQ(*options.assignments.at(0).value.get<double>(), 0.05);
  EXPECT_EQ(*options.assignments.at(1).value.get<std::int64_t>(), 1);
}

TEST(Options, SeedsAreOfTheSampleOrTheStudy) {
  const Options sample = read({"run", "--sample", "5", "--seed", "7"});
  EXPECT_EQ(sample.seed, 7U);
  EXPECT_TRUE(sample.assignments.empty());
  const Options study = read({"run", "a.toml", "--seed", "7"});
  ASSERT_EQ(study.assignments.size(), 1U);
  EXPECT_EQ(study.assignments[0].key, "seed");
  EXPECT_EQ(*study.assignments[0].value.get<std::int64_t>(), 7);
  EXPECT_THROW(read({"run", "a.toml", "--seed", "-1"}), BadInput);
  EXPECT_EQ(refusal([] { read({"run", "a.toml", "--seed", "9223372036854775808"}); }),
            "--seed 9223372036854775808: of a study it is at most 9223372036854775807");
}

TEST(Options, OfAList) {
  EXPECT_EQ(read({"list"}).command, Options::Command::list);
  EXPECT_TRUE(read({"list", "--json"}).json);
}

TEST(Options, OfPeers) {
  EXPECT_TRUE(read({"run", "a.toml"}).peers.python.empty());
  const Options options = read({"run", "a.toml", "--python", "python3", "--peers", "here"});
  EXPECT_EQ(options.peers.python, "python3");
  EXPECT_EQ(options.peers.root, "here");
  EXPECT_EQ(read({"list", "--python", "python3"}).peers.python, "python3");
  EXPECT_THROW(read({"run", "a.toml", "--peers", "here"}), BadInput);
}

TEST(Options, ThatAreWrong) {
  for (const std::vector<const char*>& words :
       std::vector<std::vector<const char*>>{{},
                                             {"play"},
                                             {"run"},
                                             {"run", "a.toml", "b.toml"},
                                             {"run", "a.toml", "--devices", "0"},
                                             {"run", "a.toml", "--devices", "two"},
                                             {"run", "a.toml", "--team", "-1"},
                                             {"run", "a.toml", "--set", "samples"},
                                             {"run", "a.toml", "--device-memory", "much"},
                                             {"run", "a.toml", "--device-memory", "0"},
                                             {"run", "a.toml", "--bogus"},
                                             {"list", "--jsn"}})
    EXPECT_THROW(read(words), BadInput);
}

TEST(Options, OfGoogleBenchmark) {
  const BenchmarkFlags flags = read({"run", "a.toml", "--benchmark_list_tests", "--benchmark_repetitions=7",
                                     "--benchmark_format=csv", "--benchmark_out=o.json"})
                                   .benchmark;
  EXPECT_TRUE(flags.list_tests);
  EXPECT_EQ(flags.repetitions, 7);
  EXPECT_EQ(flags.format, BenchmarkFlags::Format::csv);
  EXPECT_EQ(flags.out, "o.json");
  EXPECT_FALSE(read({"run", "a.toml", "--benchmark_list_tests=false"}).benchmark.list_tests);
  for (const char* word :
       {"--benchmark_min_time=2", "--benchmark_repetitions=0", "--benchmark_repetitions=x", "--benchmark_format=xml",
        "--benchmark_filter", "--benchmark_filter=(", "--benchmark_perf_counters=CYCLES", "--benchmark_new=1"})
    EXPECT_THROW(read({"run", "a.toml", word}), BadInput) << word;
}

TEST(Options, FilterNamesAsGoogleBenchmarkDoes) {
  EXPECT_TRUE(matches("", "a"));
  EXPECT_TRUE(matches("all", "b"));
  EXPECT_TRUE(matches("model:(cuda|kokkos)/.*launch:auto$", "x/model:cuda/n:1/launch:auto"));
  EXPECT_FALSE(matches("model:serial", "x/model:cuda"));
  EXPECT_TRUE(matches("-model:serial", "x/model:cuda"));
  EXPECT_FALSE(matches("-model:serial", "x/model:serial"));
}

TEST(Options, FilterWithExpressionsOfPosix) {
  EXPECT_TRUE(matches("n:[[:digit:]]{2,3}/", "n:128/"));
  EXPECT_FALSE(matches("n:[[:digit:]]{2,3}/", "n:1280/"));
  EXPECT_TRUE(matches("\\bkokkos\\w", "model:kokkos_kernels/"));
  EXPECT_TRUE(matches("^vector.*(u8|f32)", "vector_add/dtype:f32"));
}

TEST(Options, FilterInBoundedTimeAndMemory) {
  const std::string many(60'000, '('), close(60'000, ')');
  EXPECT_TRUE(matches(many + "a" + close, "a"));
  const std::string open = refusal([&] { matches(many + "a", "a"); });
  EXPECT_TRUE(open.starts_with("--benchmark_filter=((((")) << open;
  EXPECT_LT(open.size(), 300U) << "not the expression whole";
  for (const char* filter : {"((a{1,255}){1,255}){1,255}", "a{1,100000}", "(", "[b-a]", "[[:digits:]]"})
    EXPECT_NE(refusal([&] { matches(filter, "a"); }), "accepted") << filter;
  const std::string back = refusal([] { matches("(a)\\1", "aa"); });
  EXPECT_NE(back.find("--benchmark_filter=(a)\\1: invalid escape sequence"), std::string::npos) << back;
  EXPECT_NE(back.find("no back references"), std::string::npos) << back;
  EXPECT_FALSE(matches("(a*)*(a|aa)*(a|b|ab)*c", std::string(100'000, 'a'))) << "exponential where it backtracks";
}

TEST(Options, OfMemoryAreWholeNumbersOfBytes) {
  const auto bytes = [](const char* text) {
    return read({"run", "a.toml", "--device-memory", text}).device_memory_bytes.value();
  };
  EXPECT_EQ(bytes("512"), 512);
  EXPECT_EQ(bytes("010"), 10) << "not octal";
  EXPECT_EQ(bytes("3k"), 3000);
  EXPECT_EQ(bytes("3Ki"), 3072);
  EXPECT_EQ(bytes("3kib"), 3072);
  EXPECT_EQ(bytes("7EiB"), std::int64_t{7} << 60);
  EXPECT_EQ(bytes("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
  for (const char* text : {"8EiB", "16EiB", "10EB", "9223372036854775808", "99999999999999999999", "9999999999999GiB"})
    EXPECT_NE(refusal([&] { bytes(text); }).find("is beyond the largest number of bytes, 9223372036854775807"),
              std::string::npos)
        << text;
  for (const char* text : {"0", "0GiB", "-1", "-1GiB", "1e3", "1.5GiB", "0x10", "GiB", "", "+5", "nan", "1GiBx", "5i"})
    EXPECT_NE(refusal([&] { bytes(text); }).find("takes a positive whole number of bytes, as 11GiB or 2GB"),
              std::string::npos)
        << text;
}

TEST(Options, OfLaunchesSayTheirRange) {
  const std::string message = refusal([] { read({"run", "a.toml", "--league", "0"}); });
  EXPECT_NE(message.find("--league: Value 0 not in range 1 to 2147483647"), std::string::npos) << message;
  EXPECT_THROW(read({"run", "a.toml", "--league", "2147483648"}), BadInput);
}

TEST(Nearest, CountsEdits) {
  const std::vector<std::string> names{"samples", "sizes", "seed"};
  EXPECT_EQ(nearest("sampels", names), "samples");
  EXPECT_EQ(nearest("size", names), "sizes");
  EXPECT_EQ(nearest("sead", names), "seed");
  EXPECT_EQ(nearest("x", {}), "");
}

}  // namespace
}  // namespace league::bench
