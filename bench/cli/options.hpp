// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "backends/python/process.hpp"
#include "bench/cli/flags.hpp"
#include "bench/study/settings.hpp"
#include "bench/try/own.hpp"
#include "bench/tune/launches.hpp"
#include "bench/tune/search.hpp"

namespace league::bench {

/// What the command line asks for.
struct Options {
  enum class Command { none, list, run, tune, show_template };  ///< none: help was printed
  Command command = Command::none;
  bool json = false;
  python::Interpreter peers;  ///< no peers without an interpreter

  OwnOptions own;                                      ///< of `try`: then `command` is run
  std::string template_of, template_model = "kokkos";  ///< print a template instead

  std::filesystem::path study;
  std::vector<std::string> comparisons;  ///< --comparison: names; empty: all of the study
  std::vector<Assignment> assignments;   ///< --set, and options that are shorthands of study keys
  std::optional<int> devices;
  std::filesystem::path data;
  std::optional<std::int64_t> device_memory_bytes;
  std::filesystem::path records = "records", tune_records = "tuning", save_results, save_inputs;
  bool resume = false, dry_run = false, print_study = false, mpi = false;
  int sample = 0;          ///< cases to draw at random in place of a study; 0: none
  std::uint64_t seed = 1;  ///< of that draw; a study's is among the assignments
  std::string profile;
  std::filesystem::path trace_steps;          ///< file for the trace of the only case
  LaunchChoice launch = LaunchChoice::tuned;  ///< where the study leaves it open
  std::filesystem::path tuned;                ///< folder of the tuned launches: `tuned` beside the study, if not named
  Budget budget;                              ///< of a search
  BenchmarkFlags benchmark;
};

/// @throws BadInput
Options read_options(int count, const char* const* arguments);

}  // namespace league::bench
