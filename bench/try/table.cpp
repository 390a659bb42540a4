// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <iterator>
#include <ostream>

#include "bench/measure/interval.hpp"
#include "bench/record/progress.hpp"
#include "bench/try/own.hpp"

namespace league::bench {
namespace {

std::string text(const Json& row, const char* key) { return row.at(key).get<std::string>(); }
bool is_own_row(const Json& row) { return text(row, "model").starts_with("your_"); }
double time_s(const Json& row) { return row.at("real_time").get<double>() * 1e-9; }

/// How its code is written, as the report's tiers (bench/report/writing.py).
std::string tier(const Json& row) {
  if (is_own_row(row)) return "yours";
  const std::string kind = text(row, "kind");
  if (kind != "portable") return kind;
  if (text(row, "method") == "flat") return "flat";
  return row.value("bodies", "several") == "several" ? "several bodies" : "written once";
}

/// "0.431".
std::string factor(double value) {
  std::array<char, 32> digits{};
  std::snprintf(digits.data(), digits.size(), "%.3g", value);
  return digits.data();
}

/// The time of a row over that of another, with an interval where their samples were taken in turn: sample by sample.
std::string ratio(const Json& row, const Json& other) {
  std::string shown = factor(time_s(row) / time_s(other));
  const auto samples = row.at("samples").get<std::vector<double>>(),
             below = other.at("samples").get<std::vector<double>>();
  constexpr std::size_t fewest = 6;  // of an interval of 95 %
  if (&row == &other || samples.size() != below.size() || samples.size() < fewest) return shown;
  std::vector<double> ratios;
  std::ranges::transform(samples, below, std::back_inserter(ratios), std::divides<>());
  const Interval around = median_interval(std::move(ratios));
  return shown + " [" + factor(around.low) + ", " + factor(around.high) + "]";
}

/// Padded to a column, with two blanks at least.
std::string cell(std::string text, std::size_t width) {
  text.resize(std::max(width, text.size() + 2), ' ');
  return text;
}
std::string head(const std::string& mark, const std::string& model, const std::string& method) {
  return mark + cell(model, 20) + cell(method, 26);
}
std::string head(const Json& row) {
  return head(is_own_row(row) ? "> " : "  ", text(row, "model"), text(row, "method"));
}
std::string line(const std::string& code, const std::string& median, const std::string& clock,
                 const std::string& ratio) {
  return cell(code, 16) + cell(median, 10) + cell(clock, 13) + ratio + "\n";
}

void print_rows(const Json& rows, std::ostream& out) {
  std::vector<const Json*> passed;
  for (const Json& row : rows)
    if (text(row, "status") == "passed" && !row.contains("null")) passed.push_back(&row);
  std::ranges::sort(passed, {}, [](const Json* row) { return time_s(*row); });
  const auto own = std::ranges::find_if(passed, [](const Json* row) { return is_own_row(*row); });
  for (const Json* row : passed)
    out << head(*row)
        << line(tier(*row), readable_sample(time_s(*row)), text(*row, "metric"),
                own != passed.end() ? ratio(*row, **own) : "");
  for (const Json& row : rows)
    if (text(row, "status") == "failed" || (is_own_row(row) && text(row, "status") != "passed"))
      out << head(row) << (text(row, "status") == "failed" ? "FAILED: " : "skipped: ") << text(row, "reason") << "\n";
}

}  // namespace

void print_own_table(const std::vector<Json>& records, std::ostream& out) {
  for (const Json& record : records) {
    if (text(record.at("benchmarks").front(), "algorithm") == "ceilings") continue;  // peaks, for the floors
    out << "\n"
        << text(record, "comparison") << "\n"
        << head("  ", "model", "method") << line("code", "median", "clock", "/ yours");
    print_rows(record.at("benchmarks"), out);
  }
}

}  // namespace league::bench
