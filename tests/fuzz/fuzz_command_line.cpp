// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sstream>

#include "bench/cli/options.hpp"
#include "bench/errors.hpp"
#include "bench/study/toml_text.hpp"
#include "tests/fuzz/target.hpp"

// A command line, one word per line. A value of --set prints as TOML that is the same value.
namespace league::bench {
namespace {

void feed(const std::string& text) {
  std::vector<std::string> words{"league"};
  std::istringstream lines(text);
  for (std::string word; std::getline(lines, word);) words.push_back(word.substr(0, word.find('\0')));
  std::vector<const char*> arguments;
  for (const std::string& word : words) arguments.push_back(word.c_str());
  Options options;
  try {
    options = read_options(static_cast<int>(arguments.size()), arguments.data());
    static_cast<void>(NameFilter(options.benchmark.filter).matches("vector_add/method:plain/model:cuda"));
  } catch (const BadInput&) {
    return;
  }
  for (const auto& [key, value] : options.assignments) {
    const std::string printed = toml_text(value);
    fuzz::require(toml_text(read_value(printed, value.place)) == printed, "reads back as another value: " + printed);
  }
}

std::vector<std::string> seeds() {
  return {"run\nconfigs/quick.toml\n--set\nsamples=20\n--set\nvector_add.sizes.n=1024,2048\n--devices\n2\n--resume",
          "run\ns.toml\n--set\nlaunches={league = 3}\n--set\nx=[1, 1e300, true]\n--set\nmodels=cuda,kokkos\n"
          "--device-memory\n11GiB",
          "run\ns.toml\n--league\n3\n--team\n8\n--vector\n2\n--launch\nexplicit\n--records\nr\n--dry-run\n"
          "--benchmark_filter=-knn.*\n--benchmark_format=csv\n--benchmark_list_tests=false\n--benchmark_out=o",
          "tune\ns.toml\n--budget\n90s\n--tuned\nt\n--benchmark_repetitions=7",
          "tune\ns.toml\n--budget\n64\n--comparison\nx\n--comparison\ny",
          "run\n--sample\n9\n--seed\n4",
          "run\ns.toml\n--profile\nx\n--save-inputs\ni\n--save-results\nr\n--python\np\n--peers\nq",
          "run\n--sample\n9\ns.toml",
          "run\ns.toml\n--seed\n9223372036854775808",
          "run\ns.toml\n--device-memory\n9999999999TiB",
          "run\ns.toml\n--benchmark_min_time=3",
          "run\ns.toml\n--benchmark_filter=(",
          "run\ns.toml\n--benchmark_filter=(" + std::string(70, 'x'),
          "run\ns.toml\n--benchmark_repetitions=x",
          "run\ns.toml\n--benchmark_list_tests=perhaps",
          "run\ns.toml\n--benchmark_format=xml",
          "try\nmine.cu\nnaive.py\n--as\nknn\n--set\nk=5\n--limit\n3\n--sanitize\n--no-compile\n--dry-run",
          "try\n--template\nknn\n--model\ncuda",
          "try\nmine.cu",
          "try",
          "list\n--json",
          "--help",
          "run\n--help"};
}

std::vector<std::string> words() {
  return {"--json",
          "--python",
          "--peers",
          "--set",
          "--comparison",
          "--data",
          "--devices",
          "--device-memory",
          "--tuned",
          "--launch",
          "--league",
          "--team",
          "--vector",
          "--records",
          "--save-results",
          "--save-inputs",
          "--resume",
          "--mpi",
          "--dry-run",
          "--print-study",
          "--profile",
          "--trace-steps",
          "--sample",
          "--seed",
          "--budget",
          "--benchmark_filter=",
          "--benchmark_list_tests",
          "--benchmark_repetitions=",
          "--benchmark_format=",
          "--benchmark_out=",
          "GiB",
          "auto",
          "explicit",
          "console",
          "json",
          "--as",
          "--study",
          "--limit",
          "--sanitize",
          "--no-compile",
          "--template",
          "--model",
          "--save-inputs",
          "run",
          "tune",
          "try",
          "list",
          "--help"};
}

const fuzz::RegisterTarget registered{
    "command_line",
    {feed,
     seeds,
     {"bench/cli/flags.cpp", "bench/cli/options.cpp", "bench/study/toml_text.cpp", "bench/study/value.cpp"},
     words}};

}  // namespace
}  // namespace league::bench
