// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <array>
#include <cstdio>

#include "bench/study/toml_text.hpp"
#include "bench/tune/tuned_file.hpp"

namespace league::bench {
namespace {

constexpr const char* heading =
    "# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n"
    "# Tuned launches of one device, written by `league tune`; configs/README.md says how they are used.\n";

bool is_integer(const std::string& text) {
  return !text.empty() && text.size() < 19 && text.find_first_not_of("0123456789") == std::string::npos &&
         (text == "0" || text.front() != '0');
}

std::string line(const std::string& key, const std::string& value) { return key + " = " + value + "\n"; }

/// "{ n = 4096, dimension = 3 }" of values in TOML.
std::string inline_table(const std::vector<std::pair<std::string, std::string>>& entries) {
  std::string text;
  for (const auto& [key, value] : entries) text += (text.empty() ? "{ " : ", ") + toml_key(key) + " = " + value;
  return text.empty() ? "{}" : text + " }";
}

std::string launch_text(const Launch& launch) {
  std::vector<std::pair<std::string, std::string>> entries;
  const auto add = [&](const char* key, int value) {
    if (value > 0) entries.emplace_back(key, std::to_string(value));
  };
  add("league", launch.league);
  add("team", launch.team);
  add("vector", launch.vector);
  add("tile", launch.tile);
  return inline_table(entries);
}

/// Four significant digits.
std::string four_digits(double number) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.4g", number);
  return text.data();
}

std::string key_text(const TunedKey& key) {
  std::vector<std::pair<std::string, std::string>> sizes, parameters;
  for (const auto& [name, value] : key.sizes) sizes.emplace_back(name, std::to_string(value));
  for (const auto& [name, value] : key.parameters)
    parameters.emplace_back(name, is_integer(value) ? value : toml_text(value));
  const bool is_default = key.execution == name(Case{}.execution);
  std::string text =
      "\n[[tuned]]\n" + line("algorithm", toml_text(key.algorithm)) + line("method", toml_text(key.method)) +
      (is_default ? "" : line("execution", toml_text(key.execution))) + line("model", toml_text(key.model)) +
      line("dtype", toml_text(key.dtype)) + line("sizes", inline_table(sizes));
  if (!parameters.empty()) text += line("parameters", inline_table(parameters));
  if (key.devices > 1) text += line("devices", std::to_string(key.devices));
  if (key.communicator != Case{}.communicator) text += line("communicator", toml_text(key.communicator));
  return text;
}

std::string entry_text(const TunedEntry& entry) {
  const std::string head = key_text(entry.key) + line("search", toml_text(entry.search));
  if (!entry.skipped.empty()) return head + line("skipped", toml_text(entry.skipped));
  const auto count = [](const char* key, int number) { return line(key, std::to_string(number)); };
  return head + line("automatic", launch_text(entry.automatic)) + line("automatic_s", shortest(entry.automatic_s)) +
         line("best", entry.best == Launch{} ? "\"auto\"" : launch_text(entry.best)) +
         line("best_s", shortest(entry.best_s)) +
         line("gain", four_digits(entry.best_s > 0 ? entry.automatic_s / entry.best_s : 1)) +
         count("candidates", entry.candidates) + count("refused", entry.refused) + count("failed", entry.failed);
}

}  // namespace

std::string TunedFile::text() const {
  std::string text = heading + line("device", toml_text(device_));
  for (const TunedSearch& search : searches_) {
    text += "\n[searches." + toml_text(search.id) + "]\n";
    for (const auto& [key, value] : search.facts) text += line(toml_key(key), toml_text(value));
  }
  for (const TunedEntry& entry : entries_) text += entry_text(entry);
  return text;
}

}  // namespace league::bench
