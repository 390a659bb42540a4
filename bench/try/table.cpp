// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <array>
#include <cstdio>
#include <iomanip>
#include <ostream>

#include "bench/record/progress.hpp"
#include "bench/try/own.hpp"

namespace league::bench {
namespace {

std::string text(const Json& row, const char* key) { return row.at(key).get<std::string>(); }
bool is_own_row(const Json& row) { return text(row, "model").starts_with("your_"); }
double time_s(const Json& row) { return row.at("real_time").get<double>() * 1e-9; }

/// "0.431".
std::string factor(double value) {
  std::array<char, 32> digits{};
  std::snprintf(digits.data(), digits.size(), "%.3g", value);
  return digits.data();
}

void print_rows(const Json& rows, std::ostream& out) {
  std::vector<const Json*> passed;
  double fastest_own = 0;
  for (const Json& row : rows) {
    if (text(row, "status") != "passed" || row.contains("null")) continue;
    passed.push_back(&row);
    if (is_own_row(row) && (fastest_own == 0 || time_s(row) < fastest_own)) fastest_own = time_s(row);
  }
  std::ranges::sort(passed, {}, [](const Json* row) { return time_s(*row); });
  for (const Json* row : passed)
    out << (is_own_row(*row) ? "> " : "  ") << std::left << std::setw(18) << text(*row, "model") << std::setw(24)
        << text(*row, "method") << std::right << std::setw(10) << readable_sample(time_s(*row)) << std::setw(12)
        << (fastest_own > 0 ? factor(time_s(*row) / fastest_own) : "") << "  " << text(*row, "metric") << "\n";
  for (const Json& row : rows)
    if (text(row, "status") == "failed" || (is_own_row(row) && text(row, "status") != "passed"))
      out << (is_own_row(row) ? "> " : "  ") << std::left << std::setw(18) << text(row, "model") << std::setw(24)
          << text(row, "method") << (text(row, "status") == "failed" ? "FAILED: " : "skipped: ") << text(row, "reason")
          << "\n";
}

}  // namespace

void print_own_table(const std::vector<Json>& records, std::ostream& out) {
  for (const Json& record : records) {
    if (text(record.at("benchmarks").front(), "algorithm") == "ceilings") continue;  // peaks, for the floors
    out << "\n"
        << text(record, "comparison") << "\n  " << std::left << std::setw(18) << "model" << std::setw(24) << "method"
        << std::right << std::setw(10) << "median" << std::setw(12) << "/ yours"
        << "\n";
    print_rows(record.at("benchmarks"), out);
  }
}

}  // namespace league::bench
