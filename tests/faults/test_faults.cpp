// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "tests/bench/program.hpp"
#include "tests/bench/temporary.hpp"

// Each fault is planted in every variant, and a study of all algorithms is run: whatever runs without the fault must
// come out as FAILED with it, unless the fault means nothing there.
namespace league::tests {
namespace {

using Json = nlohmann::json;

const std::string everything = R"(
samples = 2
null = false
devices = [1, 2]

[[cases]]
algorithm = "ceilings"
sizes = 20000
dtypes = ["f32", "f64"]

[[cases]]
algorithm = "vector_add"
sizes = 1000
dtypes = ["f32", "f64"]

[[cases]]
algorithm = "distance_matrix"
sizes = { n = 34, dimension = 3 }
dtypes = ["f32", "f64"]

[[cases]]
algorithm = "knn"
dataset = "generated"
sizes = { train = 220, test = 63, features = 4 }
dtypes = ["f32", "u8"]

[[cases]]
algorithm = "sum"
sizes = 9001
dtypes = ["f32", "i32"]

[[cases]]
algorithm = "polynomial_fit"
execution = ["stream", "graph", "kokkos_graph"]
sizes = 201
steps = 10
learning_rate = 1e-5
dtypes = ["f32", "f64"]

[[cases]]
algorithm = "linear_regression"
execution = ["stream", "graph"]
sizes = { points = 501, features = 3 }
steps = 10
learning_rate = 0.1
dtypes = ["f32", "f64"]

# Newton's fourth step would change less than f32 can tell.
[[cases]]
algorithm = "logistic_regression"
execution = ["stream", "graph"]
sizes = { rows = 301, features = 3 }
steps = 3
learning_rate = 0.5
dtypes = ["f32", "f64"]

[[cases]]
algorithm = "softmax_regression"
dataset = "generated"
execution = ["stream", "graph"]
sizes = { train = 101, test = 20, features = 9 }
steps = 4
learning_rate = 0.05
dtypes = ["f32", "u8"]

[[cases]]
algorithm = "cnn"
dataset = "generated"
execution = ["stream", "graph"]
sizes = { train = 5, test = 1, features = 784 }
batch = 3
steps = 2
dtypes = ["f32"]

[[cases]]
algorithm = "stencil"
execution = ["stream", "graph"]
sizes = 9
steps = 3
dtypes = ["f32", "f64"]

[[cases]]
algorithm = "overheads"
execution = ["stream", "graph"]
methods = "-league_barrier"
sizes = 3
repeats = 5
dtypes = ["f32", "f64"]

[[cases]]
algorithm = "overheads"
methods = "league_barrier"
sizes = 2
repeats = 5

[[cases]]
algorithm = "collectives"
execution = ["stream", "graph"]
sizes = 60
repeats = 3
dtypes = ["f32", "f64"]
)";

struct Planted {
  std::string fault;
  std::set<std::string> algorithms;  ///< that it means something for; empty: all
  bool (*means_something)(const Json& row);
};

void PrintTo(const Planted& planted, std::ostream* out) { *out << planted.fault; }

using Algorithms = std::set<std::string>;
const Algorithms rowwise{"ceilings",
                         "collectives",
                         "distance_matrix",
                         "knn",
                         "linear_regression",
                         "logistic_regression",
                         "overheads",
                         "polynomial_fit",
                         "softmax_regression",
                         "stencil",
                         "sum",
                         "vector_add"};
const Algorithms adding{
    "cnn", "collectives", "linear_regression", "logistic_regression", "polynomial_fit", "softmax_regression"};
const Algorithms stepwise{"cnn",    "linear_regression", "logistic_regression", "polynomial_fit", "softmax_regression",
                          "stencil"};

bool anywhere(const Json&) { return true; }
bool takes_steps(const Json& row) { return row.at("method") != "normal_equations" && row.at("method") != "normal_mma"; }
bool adds_in_steps(const Json& row) { return takes_steps(row) && row.at("method") != "moments"; }
bool has_neighbours(const Json& row) { return row.at("devices") == 2; }
bool is_no_other(const Json& row, const char* collective) {
  return row.at("algorithm") != "collectives" || row.at("method") == collective;
}
bool adds_everywhere(const Json& row) { return has_neighbours(row) && is_no_other(row, "all_reduce"); }
bool exchanges(const Json& row) { return has_neighbours(row) && is_no_other(row, "exchange"); }
bool takes_any_rows(const Json& row) { return row.at("method") != "symmetric" && row.at("method") != "mma_symmetric"; }
bool is_real(const Json& row) { return row.at("algorithm") != "sum" || row.at("dtype") != "i32"; }
bool adds(const Json& row) { return row.at("method") != "fill"; }

const std::vector<Planted> faults{
    {"nothing", {}, anywhere},
    {"stale", {}, anywhere},
    {"last_row", rowwise, takes_any_rows},
    {"shard_offset", rowwise, takes_any_rows},
    {"value", rowwise, anywhere},
    {"nan", {}, is_real},
    {"one_step_fewer", stepwise, takes_steps},
    {"no_all_reduce", adding, adds_everywhere},
    {"late_sums", adding, [](const Json& row) { return adds_everywhere(row) && adds_in_steps(row); }},
    {"no_exchange", {"collectives", "stencil"}, exchanges},
    {"left_out", {"collectives"}, anywhere},
    {"off_by_one", {"collectives"}, anywhere},
    {"stale_buffer", {"collectives"}, anywhere},
    {"twice_the_bound", {"vector_add"}, adds},
    {"swapped_tie", {"knn"}, anywhere}};

class Faults : public ::testing::TestWithParam<Planted> {
 protected:
  void SetUp() override {
    if (!has_program("league_faults")) GTEST_SKIP() << "no league_faults beside this program";
  }
  /// The rows of a study with a fault, by name.
  static std::map<std::string, Json> run_study(const std::string& fault, int code,
                                               const std::string& study = everything) {
    const TemporaryFolder folder;
    const Outcome outcome = run_with_fault(fault,
                                           {"run", folder.write("study.toml", study).string(), "--records",
                                            (folder.path() / "records").string(), "--benchmark_format=json"},
                                           folder.path());
    EXPECT_EQ(outcome.code, code) << outcome.err;
    const Json benchmarks = Json::parse(outcome.out).at("benchmarks");
    std::map<std::string, Json> rows;
    for (const Json& row : benchmarks) rows[row.at("name")] = row;
    return rows;
  }
  /// Those that run here and pass without a fault: all that run here.
  static const std::map<std::string, Json>& sound() {
    static const std::map<std::string, Json> rows = [] {
      std::map<std::string, Json> passed = run_study("none", 0);
      std::erase_if(passed, [](const auto& row) { return row.second.at("status") != "passed"; });
      return passed;
    }();
    return rows;
  }
};

TEST_F(Faults, StudyHasAllThatRunsHere) {
  const TemporaryFolder folder;
  const Json list = Json::parse(run_with_fault("none", {"list", "--json"}, folder.path()).out);
  std::set<std::tuple<std::string, std::string, std::string, std::string>> here, found;
  for (const Json& algorithm : list.at("algorithms"))
    for (const Json& method : algorithm.at("methods")) {
      if (method.at("naive").get<bool>()) continue;  // runs only where a study names it
      for (const Json& model : method.at("models"))
        for (const Json& execution : model.at("executions"))
          here.emplace(algorithm.at("name"), method.at("name"), model.at("name"), execution);
    }
  for (const auto& [name, row] : sound())
    found.emplace(row.at("algorithm"), row.at("method"), row.at("model"), row.at("execution"));
  EXPECT_FALSE(here.empty());
  EXPECT_EQ(found, here);
}

TEST_P(Faults, IsFoundInEveryRow) {
  const std::map<std::string, Json> rows = run_study(GetParam().fault, 1);
  Algorithms ran, reached;
  for (const auto& [name, right] : sound()) {
    const Json& row = rows.at(name);
    const std::string algorithm = row.at("algorithm"), reason = row.at("reason");
    ran.insert(algorithm);
    const bool means_something =
        (GetParam().algorithms.empty() || GetParam().algorithms.contains(algorithm)) && GetParam().means_something(row);
    EXPECT_EQ(row.at("status"), means_something ? "failed" : "skipped") << name << ": " << reason;
    if (means_something) {
      EXPECT_TRUE(reason.starts_with("wrong ")) << name << ": " << reason;
      reached.insert(algorithm);
    }
  }
  EXPECT_EQ(reached, GetParam().algorithms.empty() ? ran : GetParam().algorithms);
}

INSTANTIATE_TEST_SUITE_P(All, Faults, ::testing::ValuesIn(faults),
                         [](const auto& planted) { return planted.param.fault; });

TEST_F(Faults, AreNotRepeated) {
  const std::map<std::string, Json> rows =
      run_study("nothing", 1, "algorithm = \"vector_add\"\nmethods = \"plain\"\nmodels = \"serial\"\nsizes = 9\n");
  ASSERT_EQ(rows.size(), 2U);
  const Json &first = rows.begin()->second, &again = rows.rbegin()->second;
  EXPECT_EQ(first.at("status"), "failed");
  EXPECT_EQ(again.at("null"), true);
  EXPECT_EQ(again.at("reason"), "the case that it repeats did not pass its check");
}

}  // namespace
}  // namespace league::tests
