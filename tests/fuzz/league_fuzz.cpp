// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "bench/json.hpp"
#include "tests/fuzz/target.hpp"
#include "tests/runtime.hpp"

// The executable `league_fuzz`: libFuzzer's, which feeds the target that LEAGUE_FUZZ names. With LEAGUE_FUZZ_SEEDS it
// writes, into that folder, the seeds and words of all targets, and what their parsers are.
namespace {

using namespace league;

void write_seeds(const std::filesystem::path& folder) {
  bench::Json parsers;
  for (const auto& [name, target] : fuzz::targets()) {
    std::filesystem::create_directories(folder / name);
    int number = 0;
    for (const std::string& seed : target.seeds())
      std::ofstream(folder / name / std::to_string(number++), std::ios::binary) << seed;
    if (target.words) {
      std::ofstream dictionary(folder / (name + ".dict"));
      for (const std::string& word : target.words()) dictionary << bench::text_of(word) << "\n";
    }
    parsers[name] = target.parser;
  }
  std::ofstream(folder / "parsers.json") << bench::text_of(parsers);
}

const fuzz::Target& named() {
  const char* name = std::getenv("LEAGUE_FUZZ");
  const auto found = fuzz::targets().find(name == nullptr ? "" : name);
  if (found != fuzz::targets().end()) return found->second;
  std::cerr << "LEAGUE_FUZZ names no target of tests/fuzz/\n";
  std::exit(2);
}

}  // namespace

league::Runtime& league::tests::runtime() {
  static const std::unique_ptr<Ranks> ranks = start_ranks(false);
  static Runtime the_runtime(*ranks);
  return the_runtime;
}

extern "C" int LLVMFuzzerInitialize(int* /*count*/, char*** /*arguments*/) {
  league::tests::runtime();
  if (const char* folder = std::getenv("LEAGUE_FUZZ_SEEDS")) {
    write_seeds(folder);
    std::exit(0);
  }
  static_cast<void>(named());
  std::cout.rdbuf(nullptr);
  std::cerr.rdbuf(nullptr);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::Target& target = named();
  target.feed({reinterpret_cast<const char*>(data), size});
  return 0;
}
