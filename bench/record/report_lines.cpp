// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/record/report_lines.hpp"

#include <ostream>

#include "bench/record/progress.hpp"

namespace league::bench {
namespace {

std::string text(const Json& row, const char* key) { return row.at(key).get<std::string>(); }

std::string quoted(const std::string& words) {
  std::string out = "\"";
  for (const char c : words) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

void print_csv(const std::vector<Json>& records, std::ostream& out) {
  out << "name,iterations,real_time,cpu_time,time_unit,bytes_per_second,items_per_second,label,error_occurred,error_"
         "message\n";
  for (const Json& record : records)
    for (const Json& row : record.at("benchmarks")) {
      const bool passed = text(row, "status") == "passed";
      out << quoted(text(row, "name")) << ",";
      if (passed)
        out << row.at("iterations") << "," << row.at("real_time") << "," << row.at("cpu_time") << ",ns,,,,,\n";
      if (!passed) out << ",,,,,,,true," << quoted(text(row, "error_message")) << "\n";
    }
}

}  // namespace

std::string case_line(const Json& row) {
  const std::string status = text(row, "status");
  if (status != "passed")
    return (status == "failed" ? "FAILED  " : "skipped ") + text(row, "name") + ": " + text(row, "reason");
  return "passed  " + text(row, "name") + "  " + readable_sample(row.at("real_time").get<double>() * 1e-9);
}

void print_all(BenchmarkFlags::Format format, const std::vector<Json>& records, std::ostream& out) {
  if (format == BenchmarkFlags::Format::csv) print_csv(records, out);
  if (format == BenchmarkFlags::Format::json && !records.empty()) out << text_of(merge_records(records), 2) << "\n";
}

ExitCode exit_code(const std::vector<Json>& records) {
  bool passed = false, failed = false;
  for (const Json& record : records)
    for (const Json& row : record.at("benchmarks")) {
      passed = passed || text(row, "status") == "passed";
      failed = failed || text(row, "status") == "failed";
    }
  return passed && !failed ? ExitCode::passed : ExitCode::failed;
}

}  // namespace league::bench
