// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "bench/errors.hpp"
#include "bench/record/folder.hpp"
#include "bench/record/record.hpp"
#include "tests/bench/temporary.hpp"
#include "tests/runtime.hpp"

namespace {
bool has_locks = true;
}

/// Stands before the C library's: a file system without locks cannot be mounted by a test.
extern "C" int flock(int file, int operation) noexcept {
  if (has_locks) return static_cast<int>(syscall(SYS_flock, file, operation));
  errno = ENOLCK;
  return -1;
}

namespace league::bench {
namespace {

using tests::TemporaryFolder, tests::read_file;

Study make_study() {
  Study study{.title = "s", .comparisons = {{"x/y", {}}, {"z", {}}}};
  for (const auto& [number, name] : {std::pair{0, "a"}, {0, "b"}, {1, "c"}}) {
    Case that;
    that.name = name;
    study.comparisons[static_cast<std::size_t>(number)].cases.push_back(that);
  }
  return study;
}

const Json manifest = {{"study", "s"},         {"executable", "1"}, {"devices", {"cpu"}}, {"cases", {"a", "b", "c"}},
                       {"samples", {3, 3, 3}}, {"options", 1}};

Json make_rows(const std::vector<std::string>& names) {
  Json rows = Json::array();
  for (const std::string& name : names)
    rows.push_back({{"name", name}, {"status", "passed"}, {"iterations", 1}, {"real_time", 1.0}, {"cpu_time", 1.0}});
  return rows;
}

Json make_record_of(const std::string& run_id, const std::string& comparison, const std::vector<std::string>& rows) {
  return {{"context", {{"league", {{"run_id", run_id}}}}}, {"comparison", comparison}, {"benchmarks", make_rows(rows)}};
}

class FolderTest : public ::testing::Test {
 protected:
  [[nodiscard]] RecordFolder open(bool resume, const Json& wanted = manifest) const {
    return {folder_.path(), wanted, study_, resume};
  }
  /// Runs both comparisons. @returns the run's id
  [[nodiscard]] std::string run_once() const {
    const RecordFolder run = open(false);
    run.write(0, "x/y", make_record_of(run.run_id(), "x/y", {"a", "b"}));
    run.write(1, "z", make_record_of(run.run_id(), "z", {"c"}));
    return run.run_id();
  }
  /// Why a run is refused; "accepted" if it is not. A refusal changes nothing in the folder.
  [[nodiscard]] std::string refusal(bool resume, const Json& wanted = manifest) const {
    const std::set<std::string> before = folder_.names();
    try {
      const RecordFolder run = open(resume, wanted);
    } catch (const BadInput& error) {
      EXPECT_EQ(folder_.names(), before);
      return error.what();
    }
    return "accepted";
  }
  void expect_refusal(bool resume, const std::string& words) const {
    EXPECT_NE(refusal(resume).find(words), std::string::npos) << words << ": " << refusal(resume);
  }
  TemporaryFolder folder_;
  Study study_ = make_study();
};

TEST_F(FolderTest, ResumesOnlyTheSameRun) {
  const std::string id = run_once();
  {
    const RecordFolder resumed = open(true);
    EXPECT_EQ(resumed.run_id(), id);
    EXPECT_EQ(resumed.find(0), make_record_of(id, "x/y", {"a", "b"}));
    EXPECT_EQ(resumed.find(1), make_record_of(id, "z", {"c"}));
    EXPECT_FALSE(resumed.find(2));
  }
  Json other = manifest;
  other["cases"] = {"a"};
  EXPECT_NE(refusal(true, other).find("the study has no case b any more"), std::string::npos);
  const RecordFolder anew = open(false, other);
  EXPECT_FALSE(anew.find(0));
  EXPECT_NE(anew.run_id(), id);
  EXPECT_EQ(Json::parse(read_file(folder_.path() / "run.json")).at("run_id"), anew.run_id());
  EXPECT_EQ(folder_.names(), (std::set<std::string>{"run.json", ".league-lock"}));
}

TEST_F(FolderTest, RemovesOnlyWhatIsProvablyARecord) {
  static_cast<void>(run_once());
  const std::set<std::string> kept{"README.md", "all.json", "000-x,y.json.part", "2024-diary.txt", "table.csv"};
  for (const std::string& name : kept) folder_.write(name, "{}");
  folder_.write(".12.league-part", "{");
  const RecordFolder anew = open(false);
  std::set<std::string> left = kept;
  left.insert({"run.json", ".league-lock"});
  EXPECT_EQ(folder_.names(), left);
}

TEST_F(FolderTest, RefusesFilesThatAreInTheWay) {
  const std::string foreign = make_record_of("1", "x/y", {"a"}).dump();
  const std::vector<std::pair<std::string, std::string>> files{{"2024-diary.json", R"({"monday": "rain"})"},
                                                               {"000-x,y.json", R"({"comparison": "x/)"},
                                                               {"007-x.json", ""},
                                                               {"copied.json", foreign},
                                                               {"003-other.json", foreign},
                                                               {"000-x,y.json.gz", "?"},
                                                               {"run.json.gz", "?"},
                                                               {"run.json", R"({"study": "s", "exe)"},
                                                               {"run.json", "[]"}};
  for (const auto& [name, content] : files) {
    const std::string id = run_once();
    folder_.write(name, content);
    for (const bool resume : {false, true}) {
      expect_refusal(resume, "'" + (folder_.path() / name).string() + "'");
      EXPECT_EQ(read_file(folder_.path() / name), content);
    }
    std::filesystem::remove(folder_.path() / name);
  }
}

TEST_F(FolderTest, RefusesAFolderThatIsNamedAsARecord) {
  std::filesystem::create_directory(folder_.path() / "000-x,y.json");
  for (const bool resume : {false, true}) expect_refusal(resume, "000-x,y.json' has the name of a record");
}

TEST_F(FolderTest, ResumesNoRecordsWithoutTheirManifest) {
  static_cast<void>(run_once());
  folder_.write("run.json", "");
  expect_refusal(true, "it holds records, but run.json");
  std::filesystem::remove(folder_.path() / "run.json");
  expect_refusal(true, "it holds records, but run.json");
  static_cast<void>(open(false));
  EXPECT_EQ(folder_.names(), (std::set<std::string>{"run.json"}));
}

TEST_F(FolderTest, ResumesNothingAsANewRun) {
  folder_.write("README.md", "");
  EXPECT_FALSE(open(true).find(0));
  const RecordFolder absent(folder_.path() / "new" / "records", manifest, study_, true);
  EXPECT_FALSE(absent.find(0));
}

TEST_F(FolderTest, ResumesNoForeignRecords) {
  const auto refused = [this](std::size_t number, const std::string& comparison, const Json& record) {
    const std::string file = record_name(number, comparison);
    folder_.write(file, record.dump());
    const std::string why = refusal(true);
    EXPECT_NE(why.find(file + "'"), std::string::npos) << why;
    return why;
  };
  const auto expect = [](const std::string& why, const std::string& words) {
    EXPECT_NE(why.find(words), std::string::npos) << words << ": " << why;
  };
  const std::string id = run_once();
  expect(refused(0, "x/y", make_record_of("1", "x/y", {"a", "b"})), "is a record of another run");
  expect(refused(0, "x/y", make_record_of(id, "x/y", {"b", "a"})), "has other rows");
  expect(refused(0, "x/y", make_record_of(id, "x/y", {"a"})), "has other rows");
  Json damaged = make_record_of(id, "x/y", {"a", "b"});
  damaged["benchmarks"][1].erase("status");
  expect(refused(0, "x/y", damaged), "is damaged");
  folder_.write(record_name(0, "x/y"), make_record_of(id, "x/y", {"a", "b"}).dump());
  EXPECT_EQ(refusal(true), "accepted");
  expect(refused(2, "x/y", make_record_of(id, "x/y", {"a", "b"})), "is of no comparison");
}

TEST_F(FolderTest, TakesTheAutomaticLaunchOfASearchForItsCase) {
  const std::string id = run_once();
  Json record = make_record_of(id, "z", {"c", "c with team=8"});
  for (const std::size_t row : {0U, 1U}) {
    record["benchmarks"][row]["tuning"] = true;
    record["benchmarks"][row]["launch"] = {{"requested", row == 0 ? "auto" : "team=8"}};
  }
  folder_.write(record_name(1, "z"), record.dump());
  EXPECT_EQ(refusal(true), "accepted");
}

TEST_F(FolderTest, IsOfOneRunAtATime) {
  {
    const RecordFolder run = open(false);
    for (const bool resume : {false, true}) {
      const std::string why = refusal(resume);
      EXPECT_NE(why.find("another run (process " + std::to_string(getpid()) + " on "), std::string::npos) << why;
      EXPECT_NE(why.find(folder_.path().string()), std::string::npos) << why;
    }
  }
  EXPECT_EQ(folder_.names(), (std::set<std::string>{"run.json"}));
  folder_.write(".league-lock", "left by a run that was killed");
  EXPECT_EQ(refusal(true), "accepted");
}

TEST_F(FolderTest, WorksWithoutLocksAndSaysSo) {
  has_locks = false;
  testing::internal::CaptureStderr();
  {
    const RecordFolder run = open(false);
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_NE(said.find("no file locks in '" + folder_.path().string() + "'"), std::string::npos) << said;
    EXPECT_EQ(said.find("no file locks"), said.rfind("no file locks"));
    run.write(0, "x/y", make_record_of(run.run_id(), "x/y", {"a", "b"}));
  }
  EXPECT_TRUE(open(true).find(0));
  has_locks = true;
}

TEST_F(FolderTest, TakesBytesThatAreNotUtf8) {
  Json strange = manifest;
  strange["options"] = {{"data", "\xff"}, {"a key \xc3", 1}};
  {
    const RecordFolder run = open(false, strange);
    Json record = make_record_of(run.run_id(), "x/y", {"a", "b"});
    record["benchmarks"][0]["reason"] = "\xc3";
    run.write(0, "x/y", record);
  }
  const RecordFolder resumed(folder_.path(), strange, study_, true);
  EXPECT_EQ(resumed.find(0)->at("benchmarks").at(0).at("reason"), "\xef\xbf\xbd");
}

TEST(Manifest, NamesWhatDiffers) {
  const auto changed = [&](const char* key, const Json& value) {
    Json before = manifest, other = manifest;
    before["data_files"] = {{"images", "1"}};
    other["data_files"] = before["data_files"];
    other[key] = value;
    return difference(before, other);
  };
  EXPECT_EQ(difference(manifest, manifest), "");
  EXPECT_EQ(changed("cases", {"a", "b"}), "the study has no case c any more");
  EXPECT_EQ(changed("cases", {"a", "b", "c", "d"}), "the study has a new case d");
  EXPECT_EQ(changed("cases", {"b", "a", "c"}), "the study has its cases in another order");
  EXPECT_EQ(changed("samples", {3, 4}), "the study asks for another number of samples");
  EXPECT_EQ(changed("settings", "2"), "the settings of the study are others");
  EXPECT_EQ(changed("executable", "2"), "the executable is another one");
  EXPECT_EQ(changed("host_name", "b"), "`host_name` was null, now \"b\"");
  EXPECT_EQ(changed("data_files", {{"images", "2"}}),
            R"(the data files are others (hashes): then {"images":"1"}, now {"images":"2"})");
  EXPECT_EQ(changed("devices", {"gpu"}), "the devices are others: then [\"cpu\"], now [\"gpu\"]");
  EXPECT_EQ(changed("options", 2), "`options` was 1, now 2");
}

TEST(Manifest, AllowsForOthersOnADevice) {
  const auto on = [](const char* mig, const char* others) {
    return Json{{"devices", {{{"name", "cpu"}}, {{"name", "gpu"}, {"mig", mig}, {"other_processes", others}}}}};
  };
  EXPECT_EQ(difference(on("off", "0"), on("off", "2")), "");
  EXPECT_NE(difference(on("off", "0"), on("on", "0")), "");
}

TEST(Manifest, HoldsWhatDecidesAboutTheRecords) {
  Datasets datasets({}, tests::runtime().host_memory());
  Study study = make_study();
  for (Comparison& comparison : study.comparisons)
    for (Case& that : comparison.cases) {
      that.algorithm = registry().algorithm("vector_add");
      that.method = &that.algorithm->methods.front();
      that.model = "serial";
      that.parameters.values = {{"n", "8"}, {"memory", "device"}, {"stores", "non_temporal"}};
    }
  const Json made = make_manifest(study, tests::runtime(), datasets, 1);
  EXPECT_TRUE(is_manifest(made));
  EXPECT_EQ(made.at("cases"), (Json{"a", "b", "c"}));
  for (const char* key : {"git", "executable", "host_name"})
    EXPECT_FALSE(made.at(key).get<std::string>().empty()) << key;
  study.comparisons[0].cases[0].seed = 7;
  EXPECT_EQ(difference(made, make_manifest(study, tests::runtime(), datasets, 1)),
            "the settings of the study are others");
}

}  // namespace
}  // namespace league::bench
