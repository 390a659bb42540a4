// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <sstream>

#include "bench/errors.hpp"
#include "bench/record/record.hpp"
#include "bench/study/models.hpp"
#include "bench/study/study.hpp"
#include "bench/study/toml_text.hpp"
#include "bench/tune/tuned_file.hpp"
#include "tests/bench/temporary.hpp"
#include "tests/fuzz/target.hpp"
#include "tests/runtime.hpp"

// A study, and after a zero byte what --set says of it, a line each. One that is taken prints as TOML that is the same
// study and prints as the same text.
namespace league::bench {
namespace {

const tests::TemporaryFolder& folder() {
  static const tests::TemporaryFolder made;
  return made;
}

/// All that a study says of its cases.
std::string text_of(const Study& study) {
  Json all = Json::array();
  for (const Comparison& comparison : study.comparisons)
    for (const Case& that : comparison.cases)
      all.push_back({comparison.name, comparison.null_test, case_json(that), that.samples, label(that.launch),
                     name(that.launch_source), method_label(that), key_of(that).parameters, that.skip});
  return bench::text_of(all);
}

struct Read {
  std::string cases, printed;
};
Read read(const std::string& text, const std::vector<Assignment>& assignments) {
  const std::filesystem::path file = folder().write("study.toml", text);
  Datasets datasets(folder().path(), tests::runtime().host_memory());
  Study study = read_study(file, assignments, tests::runtime(), datasets);
  return {text_of(study), toml_text(read_settings(file, assignments))};
}

void feed(const std::string& text) {
  Read first;
  try {
    std::vector<Assignment> assignments;
    std::istringstream lines(text.substr(std::min(text.find('\0'), text.size())));
    for (std::string line; std::getline(lines, line);)
      if (line.find_first_not_of('\0') != std::string::npos)
        assignments.push_back(read_assignment(line.substr(line.find_first_not_of('\0'))));
    first = read(text.substr(0, text.find('\0')), assignments);
  } catch (const BadInput&) {
    return;
  }
  const Read again = read(first.printed, {});
  fuzz::require(again.cases == first.cases, "what it prints is another study:\n" + first.printed);
  fuzz::require(again.printed == first.printed, "what it prints is printed otherwise:\n" + first.printed);
}

std::vector<std::string> seeds() {
  std::vector<std::string> texts;
  for (const auto& entry : std::filesystem::directory_iterator("configs"))
    if (entry.path().extension() == ".toml") texts.push_back(tests::read_file(entry.path()));
  texts.push_back(
      "algorithm = ['vector_add', 'sum']\nsizes = [{n = [1, 2]}, 3]\nlaunches = ['auto', {league = [1, 2], tile = 3}]\n"
      "seed = 2\nnull = false\n");
  texts.push_back(
      "algorithm = 'knn'\ndataset = 'generated'\nsizes = {train = 8, test = 2, features = 4}\nk = 2\nsplit = 'file'\n"
      "expect = {accuracy = [0.5, 1e0]}\ndevices = [1, 2]\ncommunicator = ['local', 'auto']\n");
  texts.push_back(
      "algorithm = 'stencil'\nshapes = 3\nelements = [2, 40]\nsizes = {n = {log_uniform = [1, 50]}}\n"
      "steps = {log_uniform = [1, 9]}\nseed = [1, 2]\n");
  texts.push_back("algorithm = 'polynomial_fit'\nmethods = 'graph'\nmodels = 'serial'\nlearning_rate = 1e-5\n");
  const std::string sum = "algorithm = 'sum'\n", add = "algorithm = 'vector_add'\n", set(1, '\0');
  for (const char* keys : {"samples=3\nsum.sizes.n=7,9", "sizes.n=5", "knn.k=3", "samples", "algorithm=axpy", "x.y=1"})
    texts.push_back(sum + set + keys);
  texts.push_back("shapes = 2\nalgorithm = 'sum'\nsizes = {n = {log_uniform = [1, 9]}}\n" + set + "sizes.n=4");
  texts.push_back("algorithm = 'distance_matrix'\nsizes = {n = 5}\n" + set + "sizes.dimension=2,3");
  for (const char* keys : {"expect = 3",
                           "expect = {accuracy = [1]}",
                           "colour = 1",
                           "algorithm = 'summ'",
                           "devices = 4000",
                           "execution = 'kokkos_graph'",
                           "models = 'cuda'",
                           "launches = 'x'",
                           "launches = 3",
                           "launches = {x = 1}",
                           "sizes = 'n'",
                           "sizes = {m = 1}",
                           "elements = [1, 2]",
                           "shapes = 2",
                           "samples = [1, 1]",
                           "dtypes = 'u8'",
                           "threads = 4096",
                           "seed = -1",
                           "null = 3",
                           "energy = 'x'",
                           "methods = 'none'",
                           "shapes = 900\nsizes = {n = {log_uniform = [1, 3]}}",
                           "shapes = 1\nsizes = {n = {log_uniform = [3, 1]}}",
                           "shapes = 1\nsizes = {n = {log_uniform = 3}}",
                           "shapes = 1\nsizes = {n = {uniform = [1, 3]}}",
                           "shapes = 1\nsizes = {m = {log_uniform = [1, 3]}}",
                           "shapes = 1\nsizes = {n = {}}",
                           "shapes = 1\nsizes = 3"}) {
    texts.push_back(sum + keys + "\n");
    texts.push_back(add + keys + "\n");
  }
  texts.push_back(
      "[[cases]]\nalgorithm = 'sum'\nsamples = 'auto'\n[[cases]]\nalgorithm = 'sum'\nsamples = 'auto'\n"
      "time_limit = 1\nmethods = 'atomic'\n");
  texts.push_back("[[cases]]\nalgorithm = 'sum'\n[[cases]]\nalgorithm = 'sum'\n");
  for (const char* share : {"0.001", "[0.01, 0.02]", "0", "2", "'x'", "1e-30", "{}"})
    for (const char* algorithm : {"sum", "stencil"})
      texts.push_back(std::string("algorithm = '") + algorithm +
                      "'\ndtypes = ['f32', 'f64']\nsizes = {n = {memory_share = " + share + "}}\n");
  texts.push_back("cases = 3\n");
  return texts;
}

/// All names that a study may use.
std::vector<std::string> words() {
  std::vector<std::string> all = known_models();
  for (const char* key :
       {"algorithm",    "methods", "models", "sizes",  "dtypes",   "devices",     "communicator", "execution",
        "launches",     "samples", "seed",   "null",   "expect",   "dataset",     "split",        "split_seed",
        "[[cases]]",    "league",  "team",   "vector", "tile",     "auto",        "tuned",        "graph",
        "kokkos_graph", "f32",     "f64",    "shapes", "elements", "log_uniform", "threads",      "memory_share"})
    all.emplace_back(key);
  for (const Algorithm& algorithm : registry().algorithms) {
    all.push_back(algorithm.name);
    for (const Method& method : algorithm.methods) all.push_back(method.name);
    for (const Parameter& parameter : algorithm.parameters) {
      all.push_back(parameter.name);
      all.insert(all.end(), parameter.choices.begin(), parameter.choices.end());
    }
  }
  return all;
}

const fuzz::RegisterTarget registered{"study",
                                      {feed,
                                       seeds,
                                       {"bench/study/axes.cpp", "bench/study/case.cpp", "bench/study/expected.cpp",
                                        "bench/study/nearest.cpp", "bench/study/settings.cpp", "bench/study/shapes.cpp",
                                        "bench/study/study.cpp", "bench/study/toml_text.cpp", "bench/study/value.cpp"},
                                       words}};

}  // namespace
}  // namespace league::bench
