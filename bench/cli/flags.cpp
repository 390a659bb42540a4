// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/cli/flags.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "bench/errors.hpp"

namespace league::bench {
namespace {

const std::string prefix = "--benchmark_";

/// Why an option of Google Benchmark is refused.
std::string reason_against(const std::string& name) {
  static const std::map<std::string, std::string> reasons{
      {"min_time",
       "a sample is one batch, as long as its clock needs; ask for more samples with --benchmark_repetitions"},
      {"min_warmup_time", "every case is run, checked and warmed up before its first sample"},
      {"enable_random_interleaving", "samples are always interleaved at random"},
      {"report_aggregates_only", "every sample is kept; bench/report does the statistics"},
      {"display_aggregates_only", "every sample is kept; bench/report does the statistics"},
      {"out_format", "--benchmark_out is JSON; bench/report writes the table as CSV"},
      {"perf_counters", "use --profile CASE under a profiler"},
      {"context", "the record's context is League's own"},
      {"time_unit", "records are in seconds"},
      {"counters_tabular", "there are no counters"},
      {"color", "output has no colours"},
      {"dry_run", "use --dry-run"}};
  const auto found = reasons.find(name);
  return found == reasons.end() ? "only filter, list_tests, repetitions, format and out have a meaning here"
                                : found->second;
}

bool read_bool(const std::string& option, const std::string& text) {
  if (text == "true" || text == "1" || text == "yes" || text.empty()) return true;
  if (text == "false" || text == "0" || text == "no") return false;
  throw BadInput(option + " takes true or false");
}

int read_count(const std::string& option, const std::string& text) {
  int count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc{} || end != text.data() + text.size() || count < 1)
    throw BadInput(option + " takes a positive number");
  return count;
}

/// The first characters of an expression, for a message: a program may have generated a long one.
std::string beginning_of(const std::string& text) {
  constexpr std::size_t shown = 60;
  return text.size() > shown ? text.substr(0, shown) + "..." : text;
}

BenchmarkFlags::Format read_format(const std::string& option, const std::string& text) {
  if (text == "console") return BenchmarkFlags::Format::console;
  if (text == "json") return BenchmarkFlags::Format::json;
  if (text == "csv") return BenchmarkFlags::Format::csv;
  throw BadInput(option + " takes console, json or csv");
}

void take(BenchmarkFlags& flags, const std::string& word) {
  const auto equals = word.find('=');
  const std::string option = word.substr(0, equals), name = option.substr(prefix.size());
  const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
  if (name == "list_tests") {
    flags.list_tests = read_bool(option, value);
    return;
  }
  const bool known = name == "filter" || name == "repetitions" || name == "format" || name == "out";
  if (!known) throw BadInput(option + " is not taken: " + reason_against(name));
  if (value.empty()) throw BadInput("write " + option + "=VALUE");
  if (name == "filter") flags.filter = value;
  if (name == "repetitions") flags.repetitions = read_count(option, value);
  if (name == "format") flags.format = read_format(option, value);
  if (name == "out") flags.out = value;
}

}  // namespace

BenchmarkFlags take_benchmark_flags(std::vector<std::string>& words) {
  BenchmarkFlags flags;
  const auto is_ours = [](const std::string& word) { return word.starts_with(prefix); };
  for (const std::string& word : words)
    if (is_ours(word)) take(flags, word);
  std::erase_if(words, is_ours);
  static_cast<void>(NameFilter(flags.filter));
  return flags;
}

NameFilter::NameFilter(const std::string& filter) : negated_(filter.starts_with('-')) {
  const std::string text = negated_ ? filter.substr(1) : filter;
  if (text.empty() || text == "all") return;
  re2::RE2::Options options;
  options.set_posix_syntax(true);
  options.set_perl_classes(true);  // \w and \b, as GNU's POSIX expressions have them
  options.set_word_boundary(true);
  options.set_log_errors(false);
  expression_ = std::make_shared<const re2::RE2>(text, options);
  if (expression_->ok()) return;
  throw BadInput("--benchmark_filter=" + beginning_of(filter) + ": " + beginning_of(expression_->error()) +
                 " (it takes POSIX extended regular expressions as RE2 does: no back references, bounded memory)");
}

bool NameFilter::matches(const std::string& name) const {
  return (expression_ == nullptr || re2::RE2::PartialMatch(name, *expression_)) != negated_;
}

}  // namespace league::bench
