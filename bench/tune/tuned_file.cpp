// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/tune/tuned_file.hpp"

#include <algorithm>
#include <cctype>
#include <limits>

#include "bench/errors.hpp"
#include "bench/files.hpp"
#include "bench/study/nearest.hpp"
#include "bench/study/renamed.hpp"
#include "bench/study/value.hpp"

namespace league::bench {
namespace {

constexpr int max_int = std::numeric_limits<int>::max();

/// The keys of one table of the file: each is read by name; unknown keys are errors.
class Taker {
 public:
  Taker(const Value& value, std::string key, std::vector<std::string> known)
      : value_(value), key_(std::move(key)), table_(value.get<Value::Table>()) {
    if (table_ == nullptr) value.refuse(key_, "takes a table, not " + value.type());
    for (const auto& [name, entry] : *table_)
      if (std::ranges::find(known, name) == known.end())
        entry.refuse(key_ + "." + name, "is not known here; " + suggestion(name, known));
  }
  [[nodiscard]] const Value* find(const char* name) const { return bench::find(*table_, name); }
  [[nodiscard]] const Value& at(const char* name) const {
    if (const Value* value = find(name)) return *value;
    value_.refuse(key_, std::string("has no `") + name + "`");
  }
  [[nodiscard]] std::string word(const char* name) const { return at(name).word(path(name)); }
  [[nodiscard]] std::string word(const char* name, const std::string& default_value) const {
    return find(name) != nullptr ? word(name) : default_value;
  }
  [[nodiscard]] int integer(const char* name, int min, int default_value) const {
    const Value* value = find(name);
    return value == nullptr ? default_value : static_cast<int>(value->integer(path(name), min, max_int));
  }
  [[nodiscard]] double seconds(const char* name) const { return at(name).real(path(name), {.min = 0, .max = 1e9}); }
  [[nodiscard]] std::string path(const char* name) const { return key_ + "." + name; }

 private:
  const Value& value_;
  std::string key_;
  const Value::Table* table_;
};

const Value::Table& table_of(const Value& value, std::string_view key) {
  const auto* table = value.get<Value::Table>();
  if (table == nullptr) value.refuse(key, "takes a table, not " + value.type());
  return *table;
}

Launch read_launch(const Value& value, const std::string& key) {
  const auto* word = value.get<std::string>();
  if (word != nullptr && *word == "auto") return {};
  if (word != nullptr) value.refuse(key, "is '" + *word + "': it takes \"auto\" or a table such as { team = 128 }");
  const Taker launch(value, key, {"league", "team", "vector", "tile"});
  return {launch.integer("league", 0, 0), launch.integer("team", 0, 0), launch.integer("vector", 0, 0),
          launch.integer("tile", 0, 0)};
}

/// Sorts sizes and parameters, so that their order does not matter in comparisons.
void sort_names(TunedKey& key) {
  std::ranges::sort(key.sizes);
  std::ranges::sort(key.parameters);
}

/// Replaces the old name of a method. @returns a note for the user; empty if the name is current
std::string modernize(TunedKey& key) {
  const Renamed* now = renamed(key.algorithm, key.method, key.model);
  if (now == nullptr) return {};
  const std::string old = key.method;
  key.method = now->now;
  key.execution = name(now->execution);
  return "method '" + old + "' of " + key.algorithm + " is now '" + key.method + "' with `execution = \"" +
         key.execution + "\"`";
}

TunedKey read_key(const Taker& table) {
  TunedKey key{.algorithm = table.word("algorithm"),
               .dtype = table.word("dtype"),
               .devices = table.integer("devices", 1, 1),
               .sizes = {},
               .parameters = {},
               .method = table.word("method"),
               .execution = table.word("execution", std::string(name(Case{}.execution))),
               .model = std::string(modern_model(table.word("model"))),
               .communicator = table.word("communicator", Case{}.communicator)};
  for (const auto& [name, value] : table_of(table.at("sizes"), table.path("sizes")))
    key.sizes.emplace_back(name, value.integer("sizes." + name, 0, std::numeric_limits<std::int64_t>::max()));
  if (const Value* parameters = table.find("parameters"))
    for (const auto& [name, value] : table_of(*parameters, table.path("parameters"))) {
      const auto* number = value.get<std::int64_t>();
      key.parameters.emplace_back(name, number != nullptr ? std::to_string(*number) : value.word("parameters." + name));
    }
  sort_names(key);
  return key;
}

TunedEntry read_entry(const Value& value) {
  const Taker table(
      value, "tuned",
      {"algorithm", "method", "execution", "model", "dtype", "devices", "communicator", "sizes", "parameters", "search",
       "skipped", "automatic", "automatic_s", "best", "best_s", "gain", "candidates", "refused", "failed"});
  TunedEntry entry{.key = read_key(table), .search = table.word("search"), .skipped = table.word("skipped", "")};
  if (!entry.skipped.empty()) return entry;
  entry.automatic = read_launch(table.at("automatic"), table.path("automatic"));
  entry.automatic_s = table.seconds("automatic_s");
  entry.best = read_launch(table.at("best"), table.path("best"));
  entry.best_s = table.seconds("best_s");
  entry.candidates = table.integer("candidates", 0, 0);
  entry.refused = table.integer("refused", 0, 0);
  entry.failed = table.integer("failed", 0, 0);
  return entry;
}

std::vector<TunedSearch> read_searches(const Value& value) {
  std::vector<TunedSearch> searches;
  for (const auto& [id, facts] : table_of(value, "searches")) {
    searches.push_back({id, {}});
    for (const auto& [key, fact] : table_of(facts, "searches." + id))
      searches.back().facts.emplace_back(key, fact.word("searches." + id + "." + key));
  }
  return searches;
}

}  // namespace

TunedKey key_of(const Case& that) {
  TunedKey key{.algorithm = that.algorithm->name,
               .dtype = std::string(name(that.dtype)),
               .devices = that.devices,
               .sizes = sizes_of(that),
               .parameters = {},
               .method = that.method->name,
               .execution = std::string(name(that.execution)),
               .model = that.model,
               .communicator = that.communicator};
  for (const Parameter& parameter : that.algorithm->parameters)
    if (parameter.kind == Parameter::Kind::choice || parameter.kind == Parameter::Kind::integer)
      key.parameters.emplace_back(parameter.name, that.parameters.choice(parameter.name));
  if (that.algorithm->needs_dataset) key.parameters.emplace_back("dataset", that.data.dataset);
  sort_names(key);
  return key;
}

TunedFile TunedFile::read(const std::filesystem::path& file, const DeviceInfo& device) {
  TunedFile tuned;
  tuned.device_ = device_label(device);
  if (!std::filesystem::exists(file)) return tuned;
  const Value top{.place = file.string(), .content = read_toml(file)};
  const Taker table(top, "the file", {"device", "searches", "tuned"});
  if (table.word("device") != tuned.device_)
    table.at("device").refuse("device", "is '" + table.word("device") + "', and this is '" + tuned.device_ + "'");
  if (const Value* searches = table.find("searches")) tuned.searches_ = read_searches(*searches);
  const Value* entries = table.find("tuned");
  if (entries == nullptr) return tuned;
  for (const Value* value : entries->each("tuned")) {
    TunedEntry entry = read_entry(*value);
    const std::string old = modernize(entry.key);
    if (tuned.note_.empty() && !old.empty()) tuned.note_ = value->place + ": " + old;
    if (std::ranges::find(tuned.searches_, entry.search, &TunedSearch::id) == tuned.searches_.end())
      find(*value->get<Value::Table>(), "search")->refuse("tuned.search", "names none of the `searches` of this file");
    if (std::ranges::find(tuned.entries_, entry.key, &TunedEntry::key) != tuned.entries_.end())
      value->refuse("tuned", "has the same algorithm, method, model and problem as one before");
    tuned.entries_.push_back(std::move(entry));
  }
  return tuned;
}

void TunedFile::merge(const TunedSearch& search, std::vector<TunedEntry> entries) {
  for (TunedEntry& entry : entries) {
    entry.search = search.id;
    std::erase_if(entries_, [&](const TunedEntry& old) { return old.key == entry.key; });
    entries_.push_back(std::move(entry));
  }
  std::ranges::sort(entries_, {}, &TunedEntry::key);
  std::erase_if(searches_, [&](const TunedSearch& old) { return old.id == search.id; });
  searches_.push_back(search);
  std::erase_if(searches_, [&](const TunedSearch& one) {
    return std::ranges::find(entries_, one.id, &TunedEntry::search) == entries_.end();
  });
  std::ranges::sort(searches_, {}, &TunedSearch::id);
}

void TunedFile::update(const std::filesystem::path& file, const DeviceInfo& device, const TunedSearch& search,
                       std::vector<TunedEntry> entries) {
  const FolderLock lock(file.parent_path());
  TunedFile tuned = read(file, device);
  tuned.merge(search, std::move(entries));
  tuned.write(file);
}

void TunedFile::write(const std::filesystem::path& file) const { write_whole(file, text()); }

std::string device_label(const DeviceInfo& device) {
  if (device.device.kind == DeviceKind::gpu) return device.name;
  return device.name + ", " + std::to_string(device.device.threads) + " threads";
}

std::string tuned_file_name(const DeviceInfo& device) {
  std::string name;
  for (const char c : device_label(device)) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    else if (!name.empty() && name.back() != '_')
      name += '_';
  }
  return name + ".toml";
}

}  // namespace league::bench
