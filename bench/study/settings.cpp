// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/study/settings.hpp"

#include <algorithm>
#include <set>

#include "bench/errors.hpp"
#include "bench/study/models.hpp"
#include "bench/study/nearest.hpp"

namespace league::bench {
namespace {

std::vector<std::string> algorithm_names() {
  std::vector<std::string> names;
  for (const Algorithm& algorithm : registry().algorithms) names.push_back(algorithm.name);
  return names;
}

/// The keys that a study may give for an algorithm; `sizes.<name>` (from --set) among them.
std::vector<std::string> keys_of(const Algorithm& algorithm) {
  std::vector<std::string> keys{"algorithm",  "methods",      "models",      "sizes",     "dtypes",  "devices",
                                "threads",    "communicator", "execution",   "launches",  "samples", "max_noise",
                                "time_limit", "seed",         "null",        "expect",    "shapes",  "elements",
                                "energy",     "end_to_end",   "host_memory", "placements"};
  if (algorithm.needs_dataset) keys.insert(keys.end(), {"dataset", "split", "split_seed"});
  for (const Parameter& parameter : algorithm.parameters)
    keys.push_back(parameter.kind == Parameter::Kind::size ? "sizes." + parameter.name : parameter.name);
  return keys;
}

bool has_key(const Algorithm& algorithm, const std::string& key) {
  const std::vector<std::string> keys = keys_of(algorithm);
  return std::ranges::find(keys, key) != keys.end();
}

void assign(Value::Table& table, const std::string& key, const Value& value) {
  const auto found = std::ranges::find(table, key, &Value::Entry::key);
  if (found == table.end())
    table.push_back({key, value});
  else
    found->value = value;
}

/// The key without the prefix of the algorithm's name.
std::string own_key(const Algorithm& algorithm, const std::string& key) {
  const std::string prefix = algorithm.name + ".";
  return key.starts_with(prefix) ? key.substr(prefix.size()) : key;
}

/// Reads the settings of a study and records which defaults and assignments were used.
class Reader {
 public:
  Reader(Value::Table defaults, std::span<const Assignment> assignments)
      : defaults_(std::move(defaults)), assignments_(assignments) {}

  void add(const Value::Table& cases, const std::string& place) {
    const Value* names = algorithm_value(cases);
    if (names == nullptr) throw BadInput(place + ": no `algorithm`: name one of " + joined(algorithm_names()));
    for (const Value* value : names->each("algorithm")) add(cases, *value);
  }

  std::vector<Settings> finish() {
    std::vector<std::string> known;
    for (const Settings& one : settings_) {
      const std::vector<std::string> keys = keys_of(*one.algorithm);
      known.insert(known.end(), keys.begin(), keys.end());
    }
    std::ranges::sort(known);
    known.erase(std::ranges::unique(known).begin(), known.end());
    const auto require_use = [&](const std::string& key, const Value& value) {
      if (!used_.contains(&value))
        value.refuse(key, "is a key of no algorithm in this study; " + suggestion(key, known));
    };
    for (const auto& [key, value] : defaults_) require_use(key, value);
    for (const auto& [key, value] : assignments_) require_use(key, value);
    return std::move(settings_);
  }

 private:
  const Value* algorithm_value(const Value::Table& cases) {
    for (const auto& [key, value] : assignments_)
      if (key == "algorithm") return use(value);
    if (const Value* value = find(cases, "algorithm")) return value;
    const Value* value = find(defaults_, "algorithm");
    return value == nullptr ? nullptr : use(*value);
  }

  void add(const Value::Table& cases, const Value& algorithm_name) {
    const Algorithm* algorithm = registry().algorithm(algorithm_name.word("algorithm"));
    if (algorithm == nullptr) {
      const std::vector<std::string> names = algorithm_names(), without = parts_left_out();
      if (std::ranges::find(without, algorithm_name.word("algorithm")) != without.end())
        algorithm_name.refuse("algorithm",
                              "'" + algorithm_name.word("algorithm") + "' is not in this build; " + how_to_build);
      algorithm_name.refuse("algorithm", "names no algorithm: " + suggestion(algorithm_name.word("algorithm"), names));
    }
    Settings one{.algorithm = algorithm, .values = {}};
    for (const auto& [key, value] : defaults_)
      if (has_key(*algorithm, key)) assign(one.values, key, *use(value));
    for (const auto& [key, value] : cases) {
      if (!has_key(*algorithm, key))
        value.refuse(key, "is no key of " + algorithm->name + "; " + suggestion(key, keys_of(*algorithm)));
      assign(one.values, key, value);
    }
    for (const auto& [key, value] : assignments_)
      if (has_key(*algorithm, own_key(*algorithm, key))) assign(one.values, own_key(*algorithm, key), *use(value));
    settings_.push_back(std::move(one));
  }

  const Value* use(const Value& value) {
    used_.insert(&value);
    return &value;
  }

  Value::Table defaults_;
  std::span<const Assignment> assignments_;
  std::set<const Value*> used_;
  std::vector<Settings> settings_;
};

}  // namespace

Assignment read_assignment(const std::string& text) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    throw BadInput("--set " + text + ": write KEY=VALUE, as in --set samples=20 or --set vector_add.sizes.n=1024");
  const std::string key = text.substr(0, equals);
  return {key, read_value(text.substr(equals + 1), "--set " + text)};
}

std::vector<Settings> read_settings(const std::filesystem::path& file, std::span<const Assignment> assignments) {
  Value::Table top = read_toml(file);
  const auto cases = std::ranges::find(top, "cases", &Value::Entry::key);
  if (cases == top.end()) {
    Reader reader({}, assignments);
    reader.add(top, file.string());
    return reader.finish();
  }
  const Value tables = std::move(cases->value);
  top.erase(cases);
  Reader reader(std::move(top), assignments);
  for (const Value* table : tables.each("cases")) {
    const auto* entries = table->get<Value::Table>();
    if (entries == nullptr) table->refuse("cases", "takes tables: write [[cases]] above the keys of each");
    reader.add(*entries, table->place);
  }
  return reader.finish();
}

}  // namespace league::bench
