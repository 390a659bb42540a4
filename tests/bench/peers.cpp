// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/bench/peers.hpp"

#include <cstdlib>

#include "bench/peers/peers.hpp"

namespace league::tests {

const std::string sound = R"(import os, sys, time
import numpy as np
from backends.python.peer import HostPeer, Unsupported

class Sound(HostPeer):
    method = "sound"
    description = "adds"
    dtypes = ("f32", "f64")

    def upload(self):
        self.a, self.b = self.inputs["a"], self.inputs["b"]
        self.sum = np.empty_like(self.a)

    def reset(self):
        self.sum.fill(np.nan)

    def compute(self):
        np.add(self.a, self.b, out=self.sum)

    def download(self):
        return {"sum": self.sum}
)";

void PeersTest::SetUp() {
  const fs::path sources = bench::default_peers();
  if (!has_program("league") || !fs::exists(sources / "backends/python")) GTEST_SKIP() << "no league, or no peers";
  fs::create_directories(root() / "algorithms/vector_add/peers");
  fs::create_directories(root() / "backends");
  fs::copy(sources / "backends/python", root() / "backends/python", fs::copy_options::recursive);
  const char* named = std::getenv("LEAGUE_PYTHON");
  python_ = named != nullptr ? named : (sources / "build/venv/bin/python").string();
  if (!fs::exists(python_)) python_ = "python3";
  if (std::system((python_ + " -c 'import numpy' 2>/dev/null").c_str()) != 0)
    GTEST_SKIP() << python_ << " has no NumPy; LEAGUE_PYTHON names another";
}

void PeersTest::peer(const std::string& model, const std::string& text) const {
  folder_.write("project/algorithms/vector_add/peers/" + model + ".py", text);
}

std::vector<std::string> PeersTest::arguments(const std::string& methods, const std::string& more) const {
  const fs::path study = folder_.write(
      "study.toml", "algorithm = \"vector_add\"\nsizes = 1000\nsamples = 6\nmethods = " + methods + "\n" + more);
  return {"run",
          study.string(),
          "--records",
          (folder_.path() / "records").string(),
          "--python",
          python_,
          "--peers",
          root().string(),
          "--benchmark_format=json"};
}

std::map<std::string, Json> PeersTest::run_study(const std::string& methods, int code, const std::string& more) {
  return run_study(arguments(methods, more), code);
}

std::map<std::string, Json> PeersTest::run_study(const std::vector<std::string>& words, int code,
                                                 const std::function<void()>& prepare) {
  const Outcome outcome = run("league", words, folder_.path(), prepare);
  EXPECT_EQ(outcome.code, code) << outcome.err;
  std::map<std::string, Json> rows;
  if (outcome.out.empty()) return rows;
  record_ = Json::parse(outcome.out);
  for (const Json& row : record_.at("benchmarks"))
    rows[row.at("method").get<std::string>() + " " + row.at("model").get<std::string>()] = row;
  return rows;
}

void expect_row(const Json& row, const std::string& status, const std::string& reason) {
  EXPECT_EQ(row.at("status"), status) << row.at("name") << ": " << row.at("reason");
  EXPECT_NE(row.at("reason").get<std::string>().find(reason), std::string::npos) << row.at("reason");
  EXPECT_EQ(row.at("samples").empty(), status != "passed");
}

}  // namespace league::tests
