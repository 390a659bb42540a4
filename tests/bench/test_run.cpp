// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "tests/bench/program.hpp"
#include "tests/bench/temporary.hpp"

// `league run` as a user calls it: exit codes, records, interruptions, full disks.
namespace league::tests {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

/// Several comparisons of about a second each.
const std::string slow = R"(algorithm = "vector_add"
methods = "plain"
models = "serial"
sizes = [4000001, 4000002, 4000003, 4000004, 4000005]
samples = 40
null = false
)";

class RunTest : public ::testing::Test {
 protected:
  Outcome league(std::vector<std::string> arguments, const std::function<void()>& prepare = {}) {
    return run("league", complete(std::move(arguments)), folder_.path(), prepare);
  }
  /// `run STUDY --records DIR` and what follows.
  [[nodiscard]] std::vector<std::string> complete(std::vector<std::string> arguments) const {
    std::vector<std::string> all{"run", (folder_.path() / "study.toml").string(), "--records", records().string()};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return all;
  }
  void SetUp() override {
    if (!has_program("league")) GTEST_SKIP() << "no league beside this program";
  }
  /// A model that this build lacks.
  std::string absent_model() {
    const Json list = Json::parse(run("league", {"list", "--json"}, folder_.path()).out);
    for (const Json& model : list.at("algorithms").at(0).at("methods").at(0).at("models"))
      if (model.at("state") == "not_built") return model.at("name");
    return "hip";
  }
  void study(const std::string& text) const { folder_.write("study.toml", text); }
  [[nodiscard]] fs::path records() const { return folder_.path() / "records"; }

  [[nodiscard]] std::vector<fs::path> record_files() const {
    std::vector<fs::path> files;
    if (!fs::exists(records())) return files;
    for (const auto& entry : fs::directory_iterator(records()))
      if (entry.path().extension() == ".json" && entry.path().filename() != "run.json") files.push_back(entry.path());
    return files;
  }
  [[nodiscard]] std::multiset<std::string> recorded_names() const {
    std::multiset<std::string> names;
    for (const fs::path& file : record_files()) {
      const Json record = Json::parse(read_file(file));
      for (const Json& row : record.at("benchmarks")) names.insert(row.at("name"));
    }
    return names;
  }
  /// Waits until so many records are there. @returns whether that came to pass while the program ran
  bool wait_for_records(Program& program, std::size_t count) {
    while (program.running()) {
      if (record_files().size() >= count) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return false;
  }

  TemporaryFolder folder_;
};

TEST_F(RunTest, PassesAndRecordsEveryComparison) {
  study(small_study);
  const Outcome outcome = league({});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(recorded_names().size(), 4U);
  const Json record = Json::parse(read_file(record_files().at(0)));
  for (const char* key :
       {"date", "host_name", "num_cpus", "mhz_per_cpu", "caches", "load_avg", "library_build_type", "league"})
    EXPECT_TRUE(record.at("context").contains(key)) << key;
  for (const Json& row : record.at("benchmarks")) {
    EXPECT_EQ(row.at("status"), "passed");
    EXPECT_EQ(row.at("metric"), "host_time");
    EXPECT_EQ(row.at("samples").size(), 3U);
    EXPECT_GT(row.at("latency_s"), 0);
    for (const char* stage : {"upload", "add", "download"}) EXPECT_TRUE(row.at("stages").contains(stage)) << stage;
    EXPECT_EQ(row.at("check").at("rows"), row.at("sizes").at("n"));
    EXPECT_GE(row.at("batch"), 1);
  }
}

TEST_F(RunTest, EndsWithTheCodesOfItsManual) {
  study(small_study);
  EXPECT_EQ(league({"--set", "models=" + absent_model()}).code, 1) << "no case ran";
  EXPECT_EQ(league({"--set", "models=serial," + absent_model()}).code, 0) << "skipped for a known reason";
  EXPECT_EQ(league({"--set", "sampels=1"}).code, 2);
  EXPECT_EQ(league({"--devices", "1000"}).code, 2);
  EXPECT_EQ(league({"--set", "devices=1,1000"}).code, 0) << "a study may ask for more than there is";
  EXPECT_EQ(league({"--benchmark_min_time=1"}).code, 2);
  EXPECT_EQ(league({"--benchmark_filter=nothing"}).code, 2);
  EXPECT_EQ(league({"--profile", "nothing"}).code, 2);
  study("algorithm = \"vector_add\"\nsizes = -1\n");
  const Outcome wrong = league({});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_NE(wrong.err.find("study.toml:2: `sizes`"), std::string::npos) << wrong.err;
  EXPECT_EQ(run("league", {"run", "none.toml"}, folder_.path()).code, 2);
  EXPECT_EQ(run("league", {"list"}, folder_.path()).code, 0);
  EXPECT_EQ(run("league", {"--help"}, folder_.path()).code, 0);
}

TEST_F(RunTest, ListsAsJson) {
  const Outcome outcome = run("league", {"list", "--json"}, folder_.path());
  const Json list = Json::parse(outcome.out);
  std::set<std::string> states{"ready", "no_device", "not_expressible", "missing", "not_built"};
  for (const Json& algorithm : list.at("algorithms")) {
    EXPECT_EQ(algorithm.at("needs_dataset").get<bool>(), algorithm.at("parameters").at(0).at("name") == "train");
    for (const Json& parameter : algorithm.at("parameters")) {
      const Json &min = parameter.at("min"), &max = parameter.at("max");
      EXPECT_TRUE(min.is_null() || max.is_null() || min.get<double>() <= max.get<double>());
      if (parameter.at("name") != "learning_rate") continue;
      EXPECT_TRUE(min == 0 && parameter.at("open_min") && !parameter.at("open_max"));
      const bool bounded = algorithm.at("name") == "softmax_regression" || algorithm.at("name") == "cnn";
      EXPECT_EQ(max, bounded ? Json(1e6) : Json());
    }
    for (const Json& method : algorithm.at("methods"))
      for (const Json& model : method.at("models")) {
        EXPECT_TRUE(states.contains(model.at("state")));
        EXPECT_EQ(model.at("state") == "ready", model.at("reason") == "");
      }
  }
}

TEST_F(RunTest, UnderstandsGoogleBenchmarksOptions) {
  study(small_study);
  EXPECT_EQ(league({"--benchmark_list_tests", "--benchmark_filter=model:openmp/.*n:10/"}).out,
            "vector_add/method:plain/model:openmp/dtype:f32/n:10/devices:1/launch:auto\n");
  const fs::path merged = folder_.path() / "all.json";
  const Outcome outcome = league({"--benchmark_filter=n:10/", "--benchmark_repetitions=2", "--benchmark_format=json",
                                  "--benchmark_out=" + merged.string()});
  const Json printed = Json::parse(outcome.out);
  ASSERT_EQ(printed.at("benchmarks").size(), 2U);
  EXPECT_EQ(printed.at("benchmarks").at(0).at("samples").size(), 2U);
  EXPECT_EQ(printed, Json::parse(read_file(merged)));
  EXPECT_EQ(league({"--benchmark_format=csv"}).out.substr(0, 16), "name,iterations,");
}

TEST_F(RunTest, RepeatsOneCaseOfEachComparison) {
  study(small_study);
  const std::string native = "vector_add/method:plain/model:openmp/dtype:f32/n:10/devices:1/launch:auto";
  const fs::path saved = folder_.path() / "saved";
  EXPECT_EQ(league({"--set", "null=true", "--set", "sizes=10", "--save-results", saved.string()}).code, 0);
  const Json rows = Json::parse(read_file(record_files().at(0))).at("benchmarks");
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_FALSE(rows[1].contains("null"));
  EXPECT_EQ(rows[2].at("name"), native + "/null:1");
  EXPECT_EQ(rows[2].at("null"), true);
  EXPECT_EQ(rows[2].at("status"), "passed") << rows[2].at("reason");
  EXPECT_EQ(rows[2].at("samples").size(), 3U);
  for (const char* key : {"batch", "group", "launch", "cost", "unit"})
    EXPECT_EQ(rows[2].at(key), rows[1].at(key)) << key;
  EXPECT_EQ(std::distance(fs::directory_iterator(saved), fs::directory_iterator()), 2) << "saved once";
  EXPECT_EQ(league({"--set", "null=true", "--set", "sizes=10", "--resume"}).code, 0);
  EXPECT_EQ(league({"--set", "sizes=10", "--resume"}).code, 2) << "a study without it is another one";
}

TEST_F(RunTest, FiltersANullTestWithItsCase) {
  study(small_study);
  const std::string serial = "vector_add/method:plain/model:serial/dtype:f32/n:10/devices:1/launch:auto\n";
  const auto listed = [this](const std::string& filter) {
    return league({"--set", "null=true", "--benchmark_list_tests", "--benchmark_filter=" + filter}).out;
  };
  EXPECT_EQ(listed("model:serial/.*n:10/"), serial);
  EXPECT_NE(listed("model:openmp/.*n:10/").find("/null:1\n"), std::string::npos);
  EXPECT_EQ(listed("model:openmp/.*n:10/.*auto$").find("/null:1"), std::string::npos);
  EXPECT_EQ(league({"--set", "null=true", "--benchmark_filter=null:1"}).code, 2) << "it does not stand alone";
}

TEST_F(RunTest, PreviewsAndProfiles) {
  study(small_study);
  const Outcome preview = league({"--dry-run"});
  EXPECT_EQ(preview.code, 0);
  EXPECT_NE(preview.out.find("4 cases, about "), std::string::npos) << preview.out;
  EXPECT_NE(preview.out.find("n:10/devices:1/launch:auto  120 B, 120 B on a device  about 0 s"), std::string::npos)
      << "three arrays of 10";
  EXPECT_EQ(league({"--profile", "vector_add/method:plain/model:openmp/dtype:f32/n:10/devices:1/launch:auto"}).code, 0);
  EXPECT_FALSE(fs::exists(records()));
}

TEST_F(RunTest, SavesInputsAndResults) {
  study(small_study);
  const fs::path saved = folder_.path() / "saved";
  EXPECT_EQ(league({"--save-results", saved.string(), "--save-inputs", saved.string(), "--set", "sizes=10"}).code, 0);
  const fs::path own = saved / "vector_add,method:plain,model:serial,dtype:f32,n:10,devices:1,launch:auto";
  EXPECT_EQ(Json::parse(read_file(own / "case.json")).at("model"), "serial");
  for (const char* file : {"sum.npy", "input_a.npy", "input_b.npy"})
    EXPECT_EQ(fs::file_size(own / file), 128U + 40) << file;
}

TEST_F(RunTest, KeepsRecordsOfOneRunOnly) {
  study(small_study);
  EXPECT_EQ(league({}).code, 0);
  const Outcome again = league({"--set", "sizes=7"});
  EXPECT_NE(again.err.find("removes 2 records"), std::string::npos) << again.err;
  EXPECT_EQ(recorded_names().size(), 2U);
}

TEST_F(RunTest, GoesOnAfterBeingKilled) {
  study(slow);
  {
    Program program("league", complete({}), folder_.path());
    ASSERT_TRUE(wait_for_records(program, 3));
    program.signal(SIGKILL);
    EXPECT_EQ(program.wait().code, 128 + SIGKILL);
  }
  EXPECT_LT(record_files().size(), 5U);
  const fs::file_time_type first = fs::last_write_time(record_files().at(0));
  const Outcome other = league({"--resume", "--set", "sizes=4000001,4000002"});
  EXPECT_EQ(other.code, 2);
  EXPECT_NE(other.err.find("the study has no case vector_add/method:plain/model:serial/dtype:f32/n:4000003"),
            std::string::npos)
      << other.err;
  const fs::path merged = folder_.path() / "all.json";
  EXPECT_EQ(league({"--resume", "--benchmark_out=" + merged.string()}).code, 0);
  EXPECT_EQ(fs::last_write_time(record_files().at(0)), first);
  const std::multiset<std::string> resumed = recorded_names();
  EXPECT_EQ(Json::parse(read_file(merged)).at("benchmarks").size(), 5U);
  EXPECT_EQ(league({"--benchmark_repetitions=1"}).code, 0);
  EXPECT_EQ(recorded_names(), resumed);
}

TEST_F(RunTest, StopsWhenInterruptedAndKeepsWhatIsDone) {
  study(slow);
  Program program("league", complete({}), folder_.path());
  ASSERT_TRUE(wait_for_records(program, 1));
  program.signal(SIGINT);
  const Outcome outcome = program.wait();
  EXPECT_EQ(outcome.code, 130);
  EXPECT_NE(outcome.err.find("interrupted"), std::string::npos) << outcome.err;
  EXPECT_GE(recorded_names().size(), 1U);
  EXPECT_LT(recorded_names().size(), 5U);
}

TEST_F(RunTest, SaysWhenTheDiskIsFull) {
  study(small_study);
  const Outcome full = league({"--benchmark_out=/dev/full"});
  EXPECT_EQ(full.code, 1);
  EXPECT_NE(full.err.find("No space left on device"), std::string::npos) << full.err;
  EXPECT_EQ(record_files().size(), 2U);
  const auto limited = [] {
    const rlimit limit{3000, 3000};  // room for the manifest and not for a record
    setrlimit(RLIMIT_FSIZE, &limit);
  };
  const Outcome limit = league({"--set", "sizes=3"}, limited);
  EXPECT_EQ(limit.code, 1);
  EXPECT_NE(limit.err.find("File too large"), std::string::npos) << limit.err;
  EXPECT_TRUE(record_files().empty());
  const auto no_output = [] { static_cast<void>(!freopen("/dev/full", "w", stdout)); };
  EXPECT_EQ(league({}, no_output).code, 1);
  EXPECT_EQ(run("league", {"list"}, folder_.path(), no_output).code, 1);
}

TEST_F(RunTest, ShowsProgressOnATerminalAndPlainLinesElsewhere) {
  study(small_study);
  const Outcome terminal = run_on_terminal("league", complete({}));
  EXPECT_EQ(terminal.code, 0);
  EXPECT_NE(terminal.out.find("\r\033[K[0/4]"), std::string::npos) << terminal.out;
  EXPECT_NE(terminal.out.find(" left "), std::string::npos) << terminal.out;
  const Outcome plain = league({});
  EXPECT_EQ(plain.err.find('\r'), std::string::npos);
  EXPECT_NE(plain.err.find("[2/4]"), std::string::npos) << plain.err;
}

TEST_F(RunTest, SaysWhichDataFilesAreMissing) {
  for (const char* sizes : {"", "sizes = {train = 2, test = 1}\n"}) {
    study(std::string("algorithm = \"knn\"\n") + sizes);
    const Outcome outcome = league({"--data", folder_.path().string()});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_NE(outcome.err.find("league: no file 'train-images-idx3-ubyte'"), std::string::npos) << outcome.err;
  }
}

}  // namespace
}  // namespace league::tests
