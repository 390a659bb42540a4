// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/record/manifest.hpp"

#include <algorithm>

#include "backends/host_limits.hpp"
#include "bench/build_info.hpp"
#include "bench/files.hpp"
#include "bench/ranks/cores.hpp"
#include "bench/ranks/variables.hpp"
#include "bench/record/record.hpp"
#include "bench/study/nearest.hpp"

namespace league::bench {
namespace {

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

/// The devices without the number of processes that use them, which varies.
Json lasting(Json devices) {
  for (Json& device : devices)
    if (device.is_object()) device.erase("other_processes");
  return devices;
}

/// What disturbs a run, or may.
Json environment_of_run() {
  Json environment = variables_here();
  environment["cores"] = std::to_string(cores_here().size());
  if (const double quota = cpu_quota(); quota > 0) environment["cpu_quota"] = text_of(quota);
  if (const std::vector<std::string> faults = process_faults(); !faults.empty())
    environment["process"] = joined(faults);
  return environment;
}

/// All settings of a case by the study, also those that its name does not show.
Json settings_of(const Case& that) {
  Json settings = case_json(that);
  settings["launch"] = label(that.launch);
  settings["launch_source"] = name(that.launch_source);
  settings["repeats"] = that.repeats;
  settings["placements"] = that.placements;
  return settings;
}

}  // namespace

Json make_manifest(const Study& study, const Runtime& runtime, const Datasets& datasets, const Json& options) {
  Json cases = Json::array(), samples = Json::array(), settings = Json::array();
  for (const Comparison& comparison : study.comparisons)
    for (const Case& that : comparison.cases) {
      cases.push_back(that.name);
      samples.push_back(that.precision ? Json{{"max_noise", that.precision->max_noise},
                                              {"time_limit_s", that.precision->time_limit_s}}
                                       : Json(that.samples));
      settings.push_back(settings_of(that));
    }
  return {{"schema", record_schema},
          {"study", study.title},
          {"options", options},
          {"git", build_info::git},
          {"executable", executable_hash()},
          {"host_name", runtime.ranks().place().host},
          {"devices", devices_json(runtime)},
          {"environment", environment_of_run()},
          {"cases", cases},
          {"samples", samples},
          {"settings", hash_of(text_of(settings))},
          {"data_files", Json(datasets.hashes())}};
}

bool is_manifest(const Json& json) {
  const auto has = [&](const char* key, Json::value_t type) {
    return json.contains(key) && json.at(key).type() == type;
  };
  return json.is_object() && has("study", Json::value_t::string) && has("executable", Json::value_t::string) &&
         has("cases", Json::value_t::array) && std::ranges::all_of(json.at("cases"), &Json::is_string);
}

std::string difference(const Json& before, const Json& now) {
  for (const auto& [key, value] : now.items()) {
    const Json old = before.value(key, Json());
    if (old == value || (key == "devices" && lasting(old) == lasting(value))) continue;
    if (key == "executable") return "the executable is another one";
    if (key == "environment") return "the environment is another one: then " + text_of(old) + ", now " + text_of(value);
    if (key == "devices") return "the devices are others: then " + text_of(old) + ", now " + text_of(value);
    if (key == "cases") return different_cases(old, value);
    if (key == "samples") return "the study asks for another number of samples";
    if (key == "settings") return "the settings of the study are others";
    if (key == "data_files")
      return "the data files are others (hashes): then " + text_of(old) + ", now " + text_of(value);
    return "`" + key + "` was " + text_of(old) + ", now " + text_of(value);
  }
  return {};
}

}  // namespace league::bench
