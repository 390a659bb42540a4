// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/bench/program.hpp"
#include "tests/bench/temporary.hpp"

// Folders of records as a user calls them: what a new run removes, which records a resumed run keeps, two runs at once.
namespace league::tests {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

const std::string small = R"(algorithm = "vector_add"
methods = "plain"
models = "serial"
sizes = [10, 1000]
samples = 2
null = true
)";
const std::string serial_10 = "vector_add,method:plain,model:serial,dtype:f32,n:10,devices:1,launch:auto";

class ResumeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_program("league")) GTEST_SKIP() << "no league beside this program";
    study(small);
  }
  void study(const std::string& text) const { folder_.write("study.toml", text); }
  [[nodiscard]] fs::path records() const { return folder_.path() / "records"; }
  [[nodiscard]] std::vector<std::string> complete(const std::vector<std::string>& more,
                                                  const std::string& command = "run") const {
    std::vector<std::string> all{command, (folder_.path() / "study.toml").string(), "--records", records().string()};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  Outcome league(const std::vector<std::string>& more = {}, const std::function<void()>& prepare = {}) {
    return run("league", complete(more), folder_.path(), prepare);
  }
  /// A run that ends with this code and says this.
  void expect(int code, const std::string& words, const std::vector<std::string>& more) {
    const Outcome outcome = league(more);
    EXPECT_EQ(outcome.code, code) << outcome.err;
    EXPECT_NE(outcome.err.find(words), std::string::npos) << words << ": " << outcome.err;
  }
  /// Files of the folder of records with their contents.
  [[nodiscard]] std::map<std::string, std::string> content() const {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::directory_iterator(records()))
      files[entry.path().filename()] = read_file(entry.path());
    return files;
  }
  /// The record of a comparison, by its number.
  [[nodiscard]] fs::path record(const std::string& number) const {
    for (const auto& entry : fs::directory_iterator(records()))
      if (entry.path().filename().string().starts_with(number)) return entry.path();
    return {};
  }
  TemporaryFolder folder_;
};

TEST_F(ResumeTest, NewRunsRemoveOnlyRecords) {
  EXPECT_EQ(league().code, 0);
  folder_.write("records/2024-diary.json", "{}");
  const auto before = content();
  expect(2, "2024-diary.json' has the name of a record, but is not a whole one", {});
  EXPECT_EQ(content(), before);
  fs::remove(records() / "2024-diary.json");
  folder_.write("records/notes.json", "{}");
  expect(0, "removes 2 records", {});
  EXPECT_EQ(read_file(records() / "notes.json"), "{}");
}

TEST_F(ResumeTest, NothingIsRemovedBeforeTheNewManifestIsWritten) {
  EXPECT_EQ(league().code, 0);
  const auto before = content();
  const Outcome full = league({}, [] {
    const rlimit limit{800, 800};  // room for messages and not for a manifest
    setrlimit(RLIMIT_FSIZE, &limit);
  });
  EXPECT_EQ(full.code, 1);
  EXPECT_NE(full.err.find("File too large"), std::string::npos) << full.err;
  EXPECT_EQ(content(), before);
}

TEST_F(ResumeTest, LostManifestsLoseNoRecords) {
  EXPECT_EQ(league().code, 0);
  for (const char* manifest : {"", "{\"study\": "}) {
    folder_.write("records/run.json", manifest);
    const auto before = content();
    expect(2, "run.json", {"--resume"});
    EXPECT_EQ(content(), before);
  }
}

TEST_F(ResumeTest, RecordsNameTheirRun) {
  EXPECT_EQ(league().code, 0);
  const Json manifest = Json::parse(read_file(records() / "run.json"));
  fs::remove(record("001"));
  EXPECT_EQ(league({"--resume"}).code, 0);
  const Json first = Json::parse(read_file(record("000"))).at("context").at("league"),
             second = Json::parse(read_file(record("001"))).at("context").at("league");
  EXPECT_EQ(manifest.at("cases").size(), 4U);
  EXPECT_EQ(first.at("run_id"), manifest.at("run_id"));
  EXPECT_EQ(second.at("run_id"), manifest.at("run_id"));
  EXPECT_NE(first.at("launch_id"), second.at("launch_id"));
}

TEST_F(ResumeTest, RefusesForeignAndDamagedRecords) {
  EXPECT_EQ(league().code, 0);
  const std::string foreign = read_file(record("000"));
  EXPECT_EQ(league().code, 0);
  const std::string own = read_file(record("000")), name = record("000").filename();
  const auto expect_refused = [&](const std::string& text, const std::string& words) {
    folder_.write("records/" + name, text);
    expect(2, name + "' " + words, {"--resume"});
    EXPECT_EQ(read_file(record("000")), text);
  };
  expect_refused(foreign, "is a record of another run");
  expect_refused(own.substr(0, own.size() / 2), "has the name of a record, but is not a whole one");
  fs::remove(record("000"));
  EXPECT_EQ(league({"--resume"}).code, 0) << "what was moved away is measured again";
  EXPECT_FALSE(record("000").empty());
}

/// An IDX file of unsigned bytes 0, 1, 2, ..., from `first` on.
std::string idx(const std::vector<std::uint8_t>& extents, std::uint8_t first = 0) {
  std::string bytes{'\0', '\0', '\x08', static_cast<char>(extents.size())};
  std::size_t size = 1;
  for (const std::uint8_t extent : extents) {
    bytes += std::string(3, '\0') + static_cast<char>(extent);
    size *= extent;
  }
  for (std::size_t i = 0; i < size; ++i) bytes += static_cast<char>((first + i) % 10);
  return bytes;
}

TEST_F(ResumeTest, RefusesOtherDataFiles) {
  study("algorithm = \"knn\"\nmethods = \"direct\"\nmodels = \"serial\"\ndataset = \"mnist_t10k\"\nsamples = 2\n");
  folder_.write("t10k-images-idx3-ubyte", idx({40, 2, 2}));
  folder_.write("t10k-labels-idx1-ubyte", idx({40}));
  const std::vector<std::string> data{"--data", folder_.path().string()}, more{data[0], data[1], "--resume"};
  EXPECT_EQ(league(data).code, 0);
  EXPECT_EQ(league(more).code, 0);
  folder_.write("t10k-images-idx3-ubyte", idx({40, 2, 2}, 1));
  expect(2, "the data files are others", more);
}

TEST_F(ResumeTest, TellsDataFilesOfOneNameApart) {
  study(
      "algorithm = \"knn\"\nmethods = \"direct\"\nmodels = \"serial\"\ndataset = [\"mnist\", \"fashion_mnist\"]\n"
      "samples = 2\n");
  for (const std::string source : {"mnist", "fashion-mnist"}) {
    fs::create_directory(folder_.path() / source);
    for (const std::string part : {"train", "t10k"}) {
      folder_.write(source + "/" + part + "-images-idx3-ubyte", idx({40, 2, 2}, source == "mnist" ? 0 : 5));
      folder_.write(source + "/" + part + "-labels-idx1-ubyte", idx({40}));
    }
  }
  const std::vector<std::string> data{"--data", folder_.path().string()}, more{data[0], data[1], "--resume"};
  EXPECT_EQ(league(data).code, 0);
  EXPECT_EQ(league(more).code, 0);
  const Json files = Json::parse(read_file(records() / "run.json")).at("data_files");
  EXPECT_EQ(files.size(), 8U) << files;
  const std::string images = "/t10k-images-idx3-ubyte", labels = "/t10k-labels-idx1-ubyte";
  EXPECT_NE(files.at("mnist" + images), files.at("fashion-mnist" + images));
  EXPECT_EQ(files.at("mnist" + labels), files.at("fashion-mnist" + labels));
  folder_.write("fashion-mnist" + labels, idx({40}, 1));
  expect(2, "the data files are others", more);
}

TEST_F(ResumeTest, ASecondRunIntoTheFolderEndsAtOnce) {
  study(R"(algorithm = "vector_add"
methods = "plain"
models = "serial"
sizes = [4000001, 4000002, 4000003]
samples = 20
null = false
)");
  const TemporaryFolder other;
  Program first("league", complete({}), folder_.path());
  while (first.running() && !fs::exists(records() / "run.json"))
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  first.signal(SIGSTOP);  // it holds its lock until it is killed, however slow the others are
  for (const char* command : {"run", "tune"}) {
    const Outcome second = run("league", complete({"--set", "samples=3"}, command), other.path());
    ASSERT_TRUE(first.running());
    EXPECT_EQ(second.code, 2);
    EXPECT_NE(second.err.find("another run (process "), std::string::npos) << second.err;
  }
  first.signal(SIGKILL);
  first.wait();
  EXPECT_EQ(league({"--resume"}).code, 0) << "the lock is gone with its process";
  EXPECT_EQ(Json::parse(read_file(record("002"))).at("benchmarks").at(0).at("samples").size(), 20U);
  EXPECT_FALSE(fs::exists(records() / ".league-lock"));
}

TEST_F(ResumeTest, TakesNamesThatAreNotUtf8) {
  const fs::path strange = folder_.write("stu\xff.toml", small);
  const std::vector<std::string> arguments{"run",    strange.string(), "--records", records().string(),
                                           "--data", "da\xffta",       "--resume"};
  for (const char* time : {"first", "resumed"}) {
    const Outcome outcome = run("league", arguments, folder_.path());
    EXPECT_EQ(outcome.code, 0) << time << outcome.err;
  }
  EXPECT_EQ(Json::parse(read_file(records() / "run.json")).at("study"), "stu\xef\xbf\xbd");
  const Outcome printed = league({"--data", "da\xffta", "--benchmark_format=json"});
  EXPECT_EQ(Json::parse(printed.out).at("benchmarks").size(), 4U) << printed.err;
}

TEST_F(ResumeTest, SearchesTakeNamesThatAreNotUtf8) {
  const fs::path strange =
      folder_.write("stu\xff.toml", "algorithm = \"vector_add\"\nmodels = \"serial\"\nsizes = 10\n");
  const std::vector<std::string> arguments{"tune", strange.string(), "--records", records().string(), "--budget", "1"};
  EXPECT_EQ(run("league", arguments, folder_.path()).code, 0);
  const Outcome again = run("league", arguments, folder_.path());
  EXPECT_EQ(again.code, 0) << "the tuned file is read again: " << again.err;
}

TEST_F(ResumeTest, SavesTheResultsOfWhatIsDone) {
  EXPECT_EQ(league().code, 0);
  const auto before = content();
  const fs::path saved = folder_.path() / "saved", sum = saved / serial_10 / "sum.npy";
  const std::vector<std::string> more{"--resume", "--save-results", saved.string(), "--save-inputs", saved.string()};
  EXPECT_EQ(league(more).code, 0);
  EXPECT_EQ(std::distance(fs::directory_iterator(saved), fs::directory_iterator()), 2) << "no null tests";
  const std::string whole = read_file(sum);
  EXPECT_EQ(whole.size(), 128U + 40);
  EXPECT_EQ(Json::parse(read_file(saved / serial_10 / "case.json")).at("files"),
            (Json{"sum.npy", "input_a.npy", "input_b.npy"}));
  const fs::file_time_type first = fs::last_write_time(sum);
  EXPECT_EQ(league(more).code, 0);
  EXPECT_EQ(fs::last_write_time(sum), first) << "computed again without need";
  fs::remove(sum);
  EXPECT_EQ(league(more).code, 0);
  EXPECT_EQ(read_file(sum), whole);
  EXPECT_EQ(content(), before) << "records stay as they are";
}

TEST_F(ResumeTest, SavesOverTheResultsOfAnotherRun) {
  const fs::path saved = folder_.path() / "saved", sum = saved / serial_10 / "sum.npy";
  EXPECT_EQ(league({"--save-results", saved.string()}).code, 0);
  const std::string whole = read_file(sum);
  folder_.write("saved/" + serial_10 + "/sum.npy", "of other data");
  EXPECT_EQ(league().code, 0) << "a new run, with another id";
  EXPECT_EQ(league({"--resume", "--save-results", saved.string()}).code, 0);
  EXPECT_EQ(read_file(sum), whole);
}

TEST_F(ResumeTest, FailsWhereAResultIsWrongWhenComputedAgain) {
  if (!has_program("league_faults")) GTEST_SKIP() << "no league_faults beside this program";
  const fs::path saved = folder_.path() / "saved";
  const auto faulty = [&](const std::vector<std::string>& more) {
    std::vector<std::string> all{"--set", "methods=plain", "--set", "models=serial", "--set", "sizes=10"};
    all.insert(all.end(), more.begin(), more.end());
    return run_with_fault("twice_the_bound", complete(all), folder_.path());
  };
  EXPECT_EQ(faulty({}).code, 1);
  Json changed = Json::parse(read_file(record("000")));
  for (Json& row : changed.at("benchmarks")) row["status"] = "passed";  // as if it had been right at its time
  folder_.write("records/" + record("000").filename().string(), changed.dump());
  EXPECT_EQ(faulty({"--resume"}).code, 0);
  const Outcome wrong = faulty({"--resume", "--save-results", saved.string()});
  EXPECT_EQ(wrong.code, 1);
  EXPECT_NE(wrong.err.find("FAILED to save vector_add/method:plain"), std::string::npos) << wrong.err;
  EXPECT_NE(wrong.err.find("wrong when computed again"), std::string::npos) << wrong.err;
  EXPECT_FALSE(fs::exists(saved));
  EXPECT_EQ(Json::parse(read_file(record("000"))), changed);
}

}  // namespace
}  // namespace league::tests
