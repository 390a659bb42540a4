// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/record/folder.hpp"

#include <algorithm>
#include <iostream>

#include "bench/errors.hpp"
#include "bench/files.hpp"

namespace league::bench {
namespace {

namespace fs = std::filesystem;
constexpr const char* manifest_name = "run.json";

/// Whether it is named as a record, or as one that was not finished.
bool is_record(const fs::path& file) {
  const std::string name = file.filename().string();
  const std::size_t digits = name.find_first_not_of("0123456789");
  const bool numbered = digits != std::string::npos && digits >= 3 && name[digits] == '-';
  return numbered && (name.ends_with(".json") || name.ends_with(".json.part"));
}

/// The first name that one list has and the other lacks.
std::string first_missing(const Json& names, const Json& among) {
  for (const Json& name : names)
    if (std::ranges::find(among, name) == among.end()) return name.get<std::string>();
  return {};
}

std::string different_cases(const Json& before, const Json& now) {
  if (const std::string gone = first_missing(before, now); !gone.empty())
    return "the study has no case " + gone + " any more";
  if (const std::string added = first_missing(now, before); !added.empty()) return "the study has a new case " + added;
  return "the study has its cases in another order";
}

/// The devices without how many others use them, which comes and goes.
Json lasting(Json devices) {
  for (Json& device : devices)
    if (device.is_object()) device.erase("other_processes");
  return devices;
}

}  // namespace

RecordFolder::RecordFolder(fs::path folder, const Json& manifest, bool resume) : folder_(std::move(folder)) {
  const std::optional<Json> before = read_json(folder_ / manifest_name);
  if (resume && before) {
    const Json now = Json::parse(text_of(manifest));  // as it reads back: what is not UTF-8 is replaced in both
    if (const std::string what = difference(*before, now); !what.empty())
      throw BadInput("cannot resume the run in '" + folder_.string() + "': " + what +
                     ". Run without --resume to start anew");
    resumed_ = true;
    return;
  }
  if (resume) std::cerr << "league: nothing to resume in '" << folder_.string() << "': starting anew\n";
  make_folder(folder_);
  remove_old();
  write_whole(folder_ / manifest_name, text_of(manifest, 2) + "\n");
}

void RecordFolder::remove_old() const {
  std::vector<fs::path> old;
  for (const auto& entry : fs::directory_iterator(folder_))
    if (is_record(entry.path())) old.push_back(entry.path());
  if (old.empty()) return;
  std::cerr << "league: removes " << old.size() << " records of an earlier run from '" << folder_.string() << "'\n";
  for (const fs::path& file : old) fs::remove(file);
}

std::optional<Json> RecordFolder::find(std::size_t number, const std::string& comparison) const {
  if (!resumed_) return {};
  std::optional<Json> record = read_json(folder_ / record_name(number, comparison));
  if (!record || record->value("comparison", "") != comparison) return {};
  return record;
}

void RecordFolder::write(std::size_t number, const std::string& comparison, const Json& record) const {
  write_whole(folder_ / record_name(number, comparison), text_of(record, 1) + "\n");
}

Json make_manifest(const Study& study, const Runtime& runtime, const Json& options) {
  Json cases = Json::array(), samples = Json::array();
  for (const Comparison& comparison : study.comparisons)
    for (const Case& that : comparison.cases) {
      cases.push_back(that.name);
      samples.push_back(that.samples);
    }
  return {{"study", study.title},
          {"options", options},
          {"executable", file_hash("/proc/self/exe")},
          {"devices", devices_json(runtime)},
          {"cases", cases},
          {"samples", samples}};
}

std::string difference(const Json& before, const Json& now) {
  for (const auto& [key, value] : now.items()) {
    const Json old = before.value(key, Json());
    if (old == value || (key == "devices" && lasting(old) == lasting(value))) continue;
    if (key == "executable") return "the executable is another one";
    if (key == "devices") return "the devices are others: then " + text_of(old) + ", now " + text_of(value);
    if (key == "cases") return different_cases(old, value);
    if (key == "samples") return "the study asks for another number of samples";
    return "`" + key + "` was " + text_of(old) + ", now " + text_of(value);
  }
  return {};
}

}  // namespace league::bench
