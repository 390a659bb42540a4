// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace re2 {
class RE2;
}

namespace league::bench {

/// The options of Google Benchmark that League supports.
struct BenchmarkFlags {
  enum class Format { console, json, csv };
  std::string filter;  ///< a regular expression on names of cases; with `-` before it, those that do not match
  bool list_tests = false;
  int repetitions = 0;  ///< samples per case; 0: as the study says
  Format format = Format::console;
  std::filesystem::path out;  ///< all records in one file
};

/// Takes the options that begin with --benchmark_ out of the words of a command line.
/// @throws BadInput for an unsupported one, with the reason
BenchmarkFlags take_benchmark_flags(std::vector<std::string>& words);

/// The names that a filter asks for.
class NameFilter {
 public:
  /// @throws BadInput unless it is a regular expression that RE2 accepts
  explicit NameFilter(const std::string& filter);
  [[nodiscard]] bool matches(const std::string& name) const;

 private:
  bool negated_;
  std::shared_ptr<const re2::RE2> expression_;  ///< null: matches every name
};

}  // namespace league::bench
