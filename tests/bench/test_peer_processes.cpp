// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <sstream>
#include <thread>

#include "tests/bench/peers.hpp"

// What the process of a peer leaves behind, says and is given.
namespace league::tests {
namespace {

/// Peers that start processes: in a session of its own, and as a daemon whose parent has ended.
const std::string spawning = R"(
import subprocess

def spawn():
    away = subprocess.Popen(["sleep", "600"], start_new_session=True)
    if os.fork() == 0:
        os.setsid()
        daemon = os.fork()
        if daemon == 0:
            os.execvp("sleep", ["sleep", "600"])
        with open("strays.part", "w") as file:
            file.write(f"{away.pid} {daemon}")
        os.rename("strays.part", "strays")
        os._exit(0)
    while not os.path.exists("strays"):
        time.sleep(0.01)

class Spawns(Sound):
    method = "spawns"
    def upload(self):
        super().upload()
        spawn()

class SpawnsAndAborts(Spawns):
    method = "spawns_and_aborts"
    def compute(self):
        os.abort()

class SpawnsAndHangs(Spawns):
    method = "spawns_and_hangs"
    def compute(self):
        while True:
            time.sleep(1)

class SpawnsAndKills(Spawns):
    method = "spawns_and_kills"
    def compute(self):
        os.kill(os.getppid(), 15)
        time.sleep(600)
)";

class StraysTest : public PeersTest {
 protected:
  void SetUp() override {
    PeersTest::SetUp();
    if (!IsSkipped()) peer("numpy", sound + spawning);
  }
  [[nodiscard]] std::vector<pid_t> strays() const {
    std::istringstream text(read_file(root() / "strays"));
    return {std::istream_iterator<pid_t>(text), {}};
  }
  void expect_strays_end() const {
    ASSERT_EQ(strays().size(), 2U);
    for (const pid_t stray : strays()) {
      for (int i = 0; i < 500 && kill(stray, 0) == 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(20));
      EXPECT_NE(kill(stray, 0), 0) << "it outlives the peer";
      if (kill(stray, 0) == 0) kill(stray, SIGKILL);
    }
  }
};

TEST_F(StraysTest, EndWithTheirPeer) {
  expect_row(run_study("\"spawns\"", 0).at("spawns numpy"), "passed", "");
  expect_strays_end();
}

TEST_F(StraysTest, EndWithAPeerThatAborts) {
  expect_row(run_study("\"spawns_and_aborts\"", 1).at("spawns_and_aborts numpy"), "failed", "was ended by: Aborted");
  expect_strays_end();
}

TEST_F(StraysTest, EndWithAPeerThatEndsItsSupervisor) {
  expect_row(run_study("\"spawns_and_kills\"", 1).at("spawns_and_kills numpy"), "failed", "was ended by: Terminated");
  expect_strays_end();
}

TEST_F(StraysTest, EndWhenLeagueIsKilled) {
  Program program("league", arguments("\"spawns_and_hangs\""), folder_.path());
  while (program.running() && !fs::exists(root() / "strays"))
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  ASSERT_TRUE(program.running());
  program.signal(SIGKILL);
  EXPECT_EQ(program.wait().code, 128 + SIGKILL);
  expect_strays_end();
}

const std::string talking = R"(
class Half(Sound):
    method = "half"
    def compute(self):
        os.write(2, "a\nends in half a character: \u00e4".encode()[:-1])
        os.abort()

class Long(Sound):
    method = "long"
    def compute(self):
        os.write(2, ("x" + "\u20ac" * 2000).encode())
        os.abort()

class Stack(Sound):
    method = "stack"
    def compute(self):
        os.write(2, b"reason: a tile too large\nBacktrace:\n" + b"[0x556c] [0x7f12]\n" * 900)
        os.abort()

class Noise(Sound):
    method = "noise"
    def compute(self):
        os.write(2, b"not \xff UTF-8")
        os.abort()

class Bytes(Sound):
    method = "bytes"
    def compute(self):
        os.write(3, b"\xff\xfe no JSON\n")

class Surrogate(Sound):
    method = "surrogate"
    def compute(self):
        raise ValueError("no file " + os.fsdecode(b"a\xffb"))
)";

TEST_F(PeersTest, AnyBytesMakeAReason) {
  peer("numpy", sound + talking);
  const auto rows = run_study(R"(["half", "long", "stack", "noise", "bytes", "surrogate"])", 1);
  expect_row(rows.at("half numpy"), "failed", "it said last: ends in half a character: ");
  EXPECT_TRUE(rows.at("half numpy").at("reason").get<std::string>().ends_with("character: "));
  expect_row(rows.at("long numpy"), "failed", "it said last: €€");
  EXPECT_TRUE(rows.at("long numpy").at("reason").get<std::string>().ends_with("€"));
  EXPECT_TRUE(rows.at("stack numpy").at("reason").get<std::string>().ends_with("last: reason: a tile too large"));
  expect_row(rows.at("noise numpy"), "failed", "it said last: not \ufffd UTF-8");
  expect_row(rows.at("bytes numpy"), "failed", "its process answers no JSON: \ufffd\ufffd no JSON");
  expect_row(rows.at("surrogate numpy"), "failed", R"(ValueError: no file a\udcffb)");
}

TEST_F(PeersTest, ThreadsOfAPeerAreThoseOfLeague) {
  peer("numpy", sound + R"(
class Counts(Sound):
    method = "counts"
    def upload(self):
        names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OMP_DYNAMIC")
        raise Unsupported(f"{[os.environ.get(n) for n in names]} {self.device.threads}")
)");
  const auto rows = run_study(arguments(R"(["counts", "sound"])"), 0, [] {
    setenv("OMP_NUM_THREADS", "2", 1);
    setenv("OMP_THREAD_LIMIT", "1", 1);
    setenv("OMP_DYNAMIC", "true", 1);
  });
  expect_row(rows.at("counts numpy"), "skipped", "['1', '1', None] 1");
}

TEST_F(PeersTest, CompileWhateverTheEnvironmentSays) {
  peer("numpy", sound + R"(
class Counts(Sound):
    method = "counts"
    def upload(self):
        raise Unsupported(f"{[os.environ.get(n) for n in ('NUMBA_DISABLE_JIT', 'JAX_DISABLE_JIT', 'NUMBA_OPT')]}")
)");
  const auto rows = run_study(arguments(R"(["counts", "sound"])"), 0, [] {
    setenv("NUMBA_DISABLE_JIT", "1", 1);
    setenv("JAX_DISABLE_JIT", "1", 1);
    setenv("NUMBA_OPT", "0", 1);
  });
  expect_row(rows.at("counts numpy"), "skipped", "[None, None, None]");
  EXPECT_NE(record_.dump().find("NUMBA_DISABLE_JIT=1 NUMBA_OPT=0 JAX_DISABLE_JIT=1: ignored"), std::string::npos);
}

/// Each process says that it imports, and whether another one did so before 20 s were over.
const std::string meeting = R"(
if sys.argv[0].endswith("worker.py") and not hasattr(sys, "has_met"):
    sys.has_met = True
    open(f"import-{os.getpid()}", "w").close()
    deadline = time.monotonic() + 20
    while sum(name.startswith("import-") for name in os.listdir()) < 2:
        if time.monotonic() > deadline:
            open("alone", "w").close()
            break
        time.sleep(0.01)

class Second(Sound):
    method = "second"

class Third(Sound):
    method = "third"
)";

TEST_F(PeersTest, LibrariesAreImportedSideBySide) {
  peer("numpy", sound + meeting);
  const auto rows =
      run_study(arguments(R"(["sound", "second", "third"])"), 0, [] { setenv("OMP_NUM_THREADS", "8", 1); });
  for (const char* name : {"sound numpy", "second numpy", "third numpy"}) expect_row(rows.at(name), "passed", "");
  EXPECT_FALSE(fs::exists(root() / "alone"));
  const auto imports = std::ranges::count_if(fs::directory_iterator(root()), [](const fs::directory_entry& entry) {
    return entry.path().filename().string().starts_with("import-");
  });
  EXPECT_EQ(imports, 3) << "one process for each case";
}

TEST_F(PeersTest, AWorkerThatEndsAheadOfItsCaseIsReplaced) {
  peer("numpy", sound + R"(
if sys.argv[0].endswith("worker.py") and not os.path.exists("ended"):
    open("ended", "w").close()
    os._exit(3)

class Second(Sound):
    method = "second"
)");
  const auto rows = run_study(arguments(R"(["sound", "second"])"), 0, [] { setenv("OMP_NUM_THREADS", "8", 1); });
  EXPECT_TRUE(fs::exists(root() / "ended"));
  expect_row(rows.at("sound numpy"), "passed", "");
  expect_row(rows.at("second numpy"), "passed", "");
}

TEST_F(PeersTest, ALibraryThatCannotBeImportedIsSaidByItsCase) {
  peer("numpy", sound + R"(
if sys.argv[0].endswith("worker.py"):
    import no_such_library
)");
  const auto rows = run_study(arguments("\"sound\""), 1, [] { setenv("OMP_NUM_THREADS", "8", 1); });
  expect_row(rows.at("sound numpy"), "skipped", "no_such_library");
}

}  // namespace
}  // namespace league::tests
