// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <iosfwd>

#include "bench/cli/flags.hpp"
#include "bench/errors.hpp"
#include "bench/record/record.hpp"

namespace league::bench {

/// A case in one line: status, name, median time or reason.
std::string case_line(const Json& row);

/// All records in the formats json and csv of Google Benchmark; nothing for console, which was printed case by case.
void print_all(BenchmarkFlags::Format format, const std::vector<Json>& records, std::ostream& out);

/// Passed if a case passed and none failed.
ExitCode exit_code(const std::vector<Json>& records);

}  // namespace league::bench
