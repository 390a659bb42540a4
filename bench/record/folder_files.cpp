// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/record/folder_files.hpp"

#include <algorithm>
#include <charconv>

#include "bench/files.hpp"
#include "bench/record/manifest.hpp"
#include "bench/record/record.hpp"

namespace league::bench {
namespace {

namespace fs = std::filesystem;

/// The number that the name of a record begins with: "007-...json".
std::optional<std::size_t> number_of(const std::string& name) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  const std::string_view rest(end, name.data() + name.size());
  if (error != std::errc() || end - name.data() < 3 || !rest.starts_with('-') || !rest.ends_with(".json")) return {};
  return number;
}

/// Whether it has the keys that `make_record` writes.
bool is_record(const Json& json) {
  const auto has = [](const Json& object, const char* key) { return object.is_object() && object.contains(key); };
  return has(json, "context") && has(json["context"], "league") && has(json, "comparison") &&
         json["comparison"].is_string() && has(json, "benchmarks") && json["benchmarks"].is_array();
}

bool is_regular(const fs::path& file) {
  std::error_code none;
  return fs::is_regular_file(file, none);
}

void take_manifest(const fs::path& file, FolderFiles& found) {
  if (is_regular(file) && fs::file_size(file) == 0) return;
  std::optional<Json> json;
  if (is_regular(file)) json = read_json(file);
  if (json && is_manifest(*json))
    found.manifest = std::move(json);
  else
    found.conflicts.push_back("'" + file.string() + "' is not whole, or was not written by `league`");
}

/// Classifies a file with the extension of a record.
void take_json(const fs::path& file, FolderFiles& found) {
  const std::string name = file.filename().string();
  const std::optional<std::size_t> number = number_of(name);
  std::optional<Json> json;
  if (is_regular(file)) json = read_json(file);
  if (!json || !is_record(*json)) {
    if (number) found.conflicts.push_back("'" + file.string() + "' has the name of a record, but is not a whole one");
  } else if (number && name == record_name(*number, (*json)["comparison"].get<std::string>())) {
    found.records.emplace(file, *std::move(json));
  } else {
    found.conflicts.push_back("'" + file.string() + "' is a record under another name than `league` gives it");
  }
}

}  // namespace

FolderFiles look_into(const fs::path& folder) {
  FolderFiles found;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
  std::ranges::sort(files);
  for (const fs::path& file : files) {
    const std::string name = file.filename().string();
    if (name == manifest_name)
      take_manifest(file, found);
    else if (is_unfinished(file))
      found.unfinished.push_back(file);
    else if (name.starts_with('.'))
      continue;
    else if (name.ends_with(".json"))
      take_json(file, found);
    else if (name.ends_with(".json.gz"))
      found.conflicts.push_back("'" + file.string() + "' is a compressed record (gunzip unpacks it)");
  }
  return found;
}

}  // namespace league::bench
