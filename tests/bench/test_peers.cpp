// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "tests/bench/peers.hpp"

// Peers in Python as a user calls them, with peers that do what they must not.
namespace league::tests {
namespace {

/// Variants of a sound peer with one fault each.
const std::string faults = R"(
class Wrong(Sound):
    method = "wrong"
    def compute(self):
        np.subtract(self.a, self.b, out=self.sum)

class Idle(Sound):
    method = "idle"
    def compute(self):
        pass

class Late(Sound):
    method = "late"
    def compute(self):
        self.count = getattr(self, "count", 0) + 1
        np.add(self.a, self.b if self.count < 3 else self.a, out=self.sum)

class Raises(Sound):
    method = "raises"
    def compute(self):
        raise ValueError("no such luck")

class Crashes(Sound):
    method = "crashes"
    def compute(self):
        print("about to end")
        sys.stdout.flush()
        os.abort()

class Declines(Sound):
    method = "declines"
    def upload(self):
        raise Unsupported("takes no more than a hat holds")

class Exhausts(Sound):
    method = "exhausts"
    def upload(self):
        raise MemoryError("a lot")

class Double(Sound):
    method = "double"
    def download(self):
        return {"sum": self.sum.astype(np.float64)}

class Plain(Sound):
    method = "plain"
    units = (("f32", "f64"),)

class Greedy(Sound):
    method = "greedy"
    def upload(self):
        super().upload()
        self.a = self.a.copy()
        self.inputs["a"].fill(0)

class Particular(Sound):
    method = "particular"
    only = (("memory", "unified"),)
)";
const std::string hangs = R"(
class Hangs(Sound):
    method = "hangs"
    def compute(self):
        with open("worker.pid", "w") as file:
            file.write(str(os.getpid()))
        while True:
            time.sleep(1)
)";

TEST_F(PeersTest, SoundPeerIsARowLikeAnyOther) {
  peer("numpy", sound);
  const auto rows = run_study("[\"sound\", \"plain\"]", 0,
                              "models = [\"numpy\", \"serial\"]\ndtypes = [\"f32\", \"f64\"]\nplacements = 3\n");
  ASSERT_EQ(rows.size(), 2U);
  const Json& row = rows.at("sound numpy");
  expect_row(row, "passed", "");
  EXPECT_EQ(row.at("device_kind"), "host");
  EXPECT_EQ(row.at("metric"), rows.at("plain serial").at("metric"));
  EXPECT_EQ(row.at("samples").size(), 6U);
  EXPECT_FALSE(row.contains("placements")) << "it stays in its process";
  EXPECT_EQ(rows.at("plain serial").at("placements").dump(), "[0,1,2,0,1,2]");
  EXPECT_TRUE(row.at("stages").contains("upload"));
  const Json& peers = record_.at("context").at("league").at("peers");
  EXPECT_EQ(peers.at("interpreter"), python_);
  EXPECT_TRUE(peers.at("modules").contains("numpy"));
}

TEST_F(PeersTest, FaultsAreOneRowEach) {
  peer("numpy", sound + faults);
  const auto rows = run_study("[\"-wide\", \"-fill\", \"-transform\"]", 1);
  expect_row(rows.at("sound numpy"), "passed", "");
  expect_row(rows.at("wrong numpy"), "failed", "wrong before sampling");
  expect_row(rows.at("idle numpy"), "failed", "wrong before sampling");
  expect_row(rows.at("late numpy"), "failed", "wrong in a timed compute");
  expect_row(rows.at("raises numpy"), "failed", "ValueError: no such luck");
  expect_row(rows.at("crashes numpy"), "failed", "was ended by: Aborted; it said last: about to end");
  expect_row(rows.at("declines numpy"), "skipped", "takes no more than a hat holds");
  expect_row(rows.at("exhausts numpy"), "skipped", "out of memory: a lot");
  expect_row(rows.at("double numpy"), "failed", "'sum' is float64[1000], not float32[1000]");
  expect_row(rows.at("greedy numpy"), "passed", "");
  expect_row(rows.at("particular numpy"), "skipped", "takes memory = unified only");
  EXPECT_EQ(rows.at("plain numpy").at("unit"), "f64") << "a peer may compute in another unit than its method";
  EXPECT_EQ(rows.at("sound numpy").at("unit"), "f32");
}

TEST_F(PeersTest, WhatCannotRunIsSkippedWithTheReason) {
  peer("numpy", sound);
  peer("absent", "import no_such_library\n" + sound);
  std::string on_gpu = sound;
  on_gpu.replace(on_gpu.find("    method"), 0, "    kind = \"gpu\"\n");
  peer("elsewhere", on_gpu);
  auto rows = run_study("\"sound\"", 0);
  expect_row(rows.at("sound numpy"), "passed", "");
  expect_row(rows.at("sound absent"), "skipped", "no module no_such_library in Python 3.");
  EXPECT_EQ(rows.at("sound elsewhere").at("device_kind"), "gpu");
  const auto alone = [&](const std::string& more) {  // a run of skipped cases only is no success
    return run_study("\"sound\"", 1, "models = \"numpy\"\n" + more).at("sound numpy");
  };
  expect_row(alone("dtypes = \"i32\"\n"), "skipped", "has no i32");
  expect_row(alone("devices = 2\n"), "skipped", "one device");
  rows = run_study("\"sound\"", 0, "models = \"numpy\"\nlaunches = [{team = 2}, \"tuned\"]\n");
  ASSERT_EQ(rows.size(), 1U) << "a library takes part once";
  EXPECT_TRUE(rows.at("sound numpy").at("name").get<std::string>().ends_with("/launch:auto"));
}

TEST_F(PeersTest, StudyThatNamesPeersRunsWithoutThem) {
  std::vector<std::string> words = arguments("[\"plain\", \"eager\"]", "models = [\"serial\", \"numpy\"]\n");
  words.erase(words.end() - 5, words.end() - 1);  // --python and --peers
  const Outcome outcome = run("league", words, folder_.path());
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(Json::parse(outcome.out).at("benchmarks").size(), 2U) << "serial, and its null test";
  words[1] = folder_.write("typing.toml", "algorithm = \"vector_add\"\nmodels = \"numpi\"\n").string();
  EXPECT_EQ(run("league", words, folder_.path()).code, 2);
  words[1] = folder_.write("alone.toml", "algorithm = \"vector_add\"\nmodels = \"numpy\"\n").string();
  EXPECT_EQ(run("league", words, folder_.path()).code, 2) << "nothing is left of it";
}

TEST_F(PeersTest, PeersThatCannotBeListedAreBadInput) {
  peer("numpy", "class Broken(\n");
  EXPECT_TRUE(run_study("\"plain\"", 2).empty());
  peer("numpy", "class Clever:\n    method = \"a\" + \"b\"\n");
  EXPECT_TRUE(run_study("\"plain\"", 2).empty());
  python_ = "/no/such/interpreter";
  EXPECT_TRUE(run_study("\"plain\"", 2).empty());
}

TEST_F(PeersTest, HangingPeerEndsWithAnInterruptedRun) {
  peer("numpy", sound + hangs);
  Program program("league", arguments("\"hangs\""), folder_.path());
  const fs::path file = root() / "worker.pid";
  while (program.running() && (!fs::exists(file) || read_file(file).empty()))
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  ASSERT_TRUE(program.running());
  const pid_t worker = std::stoi(read_file(file));
  program.signal(SIGINT);
  std::this_thread::sleep_for(std::chrono::milliseconds(600));
  program.signal(SIGINT);  // the user insists
  EXPECT_EQ(program.wait().code, 130);
  for (int i = 0; i < 250 && kill(worker, 0) == 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_NE(kill(worker, 0), 0) << "the worker outlives the run";
}

}  // namespace
}  // namespace league::tests
