// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace league::bench {

/// Those options of Google Benchmark that mean something here.
struct BenchmarkFlags {
  enum class Format { console, json, csv };
  std::string filter;  ///< a regular expression on names of cases; with `-` before it, those that do not match
  bool list_tests = false;
  int repetitions = 0;  ///< samples a case; 0: as the study says
  Format format = Format::console;
  std::filesystem::path out;  ///< all records in one file
};

/// Takes the options that begin with --benchmark_ out of the words of a command line.
/// @throws BadInput for one that League does not take, with the reason
BenchmarkFlags take_benchmark_flags(std::vector<std::string>& words);

/// Whether a name is one of those that the filter asks for. @throws BadInput if it is no regular expression
bool matches(const std::string& filter, const std::string& name);

}  // namespace league::bench
