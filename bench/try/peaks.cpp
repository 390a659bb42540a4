// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/try/peaks.hpp"

#include <algorithm>
#include <array>
#include <iostream>
#include <set>

#include "bench/files.hpp"
#include "bench/study/models.hpp"
#include "bench/try/own.hpp"

namespace league::bench {
namespace {

constexpr const char* peaks_of = "ceilings";
constexpr std::int64_t most_bytes = std::int64_t{2} << 30;
constexpr int peak_samples = 10;

/// A method, and how many elements of f32 its arrays have, for `bytes` of them in all.
struct Peak {
  const char* method;
  int arrays;
};
constexpr std::array bandwidths{Peak{"read", 1}, Peak{"write", 1}, Peak{"copy", 2}, Peak{"add", 3}};

Cost cost_of(const Case& that, Datasets& datasets) {
  const Dataset* dataset = that.algorithm->needs_dataset ? &datasets.rows(that.data) : nullptr;
  return that.algorithm->make({that.parameters, that.dtype, that.seed, dataset, that.method->problem, that.devices})
      ->cost();
}

/// What decides the peaks: the executable, and the devices by their names.
std::string key_of(const Runtime& runtime) {
  std::string key = file_hash("/proc/self/exe") + std::to_string(runtime.host_threads());
  for (const DeviceKind kind : {DeviceKind::host, DeviceKind::gpu})
    for (const Device& device : runtime.devices(kind, std::min(1, max_devices(runtime, kind)))) {
      const DeviceInfo info = runtime.info(device);
      key += info.name;
      for (const auto& [name, value] : info.facts)
        if (name == "bus_id" || name == "power_limit_W") key += value;
    }
  return runtime.ranks().place().host + "-" + hash_of(key);
}

/// All models that have the method, on the kinds of devices that the study uses.
Comparison comparison_of(const char* method, Dtype dtype, std::int64_t n, const std::set<DeviceKind>& kinds,
                         const Runtime& runtime) {
  const Algorithm& algorithm = *registry().algorithm(peaks_of);
  Comparison comparison{.name = {}, .cases = {}, .null_test = false};
  Case one{.algorithm = &algorithm, .method = &*std::ranges::find(algorithm.methods, method, &Method::name)};
  for (const Parameter& parameter : algorithm.parameters)
    one.parameters.values[parameter.name] = parameter.default_value;
  one.parameters.values["n"] = std::to_string(n);
  one.dtype = dtype;
  one.samples = peak_samples;
  one.launch_source = LaunchSource::automatic;
  for (const Variant& variant : registry().variants) {
    if (variant.algorithm != peaks_of || variant.method != method || !is_own(variant.model.name) ||
        variant.model.name == "serial" || !kinds.contains(variant.model.device))
      continue;
    one.model = variant.model.name;
    give_names(one);
    one.skip = known_skip_reason(runtime, one);
    if (one.skip.empty()) comparison.cases.push_back(one);
  }
  if (!comparison.cases.empty()) comparison.name = comparison.cases.front().comparison;
  return comparison;
}

}  // namespace

void add_peaks(Study& study, const Runtime& runtime, Datasets& datasets) {
  if (registry().algorithm(peaks_of) == nullptr) return;
  std::set<DeviceKind> kinds;
  std::set<std::int64_t> sizes;
  std::set<std::string> units;
  for (const Comparison& comparison : study.comparisons) {
    for (const Case& that : comparison.cases)
      if (that.skip.empty()) kinds.insert(device_kind(that));
    const Cost cost = cost_of(comparison.cases.front(), datasets);
    sizes.insert(std::clamp<std::int64_t>(static_cast<std::int64_t>(cost.bytes), 1, most_bytes));
    units.insert(cost.best_unit);
  }
  std::vector<Comparison> peaks;
  for (const std::int64_t bytes : sizes)
    for (const Peak& peak : bandwidths)
      peaks.push_back(
          comparison_of(peak.method, Dtype::f32, std::max<std::int64_t>(bytes / (peak.arrays * 4), 1), kinds, runtime));
  for (const Dtype dtype : {Dtype::f32, Dtype::f64, Dtype::i32})
    peaks.push_back(comparison_of("multiply_add", dtype, std::int64_t{1} << 20, kinds, runtime));
  for (const Method& method : registry().algorithm(peaks_of)->methods)
    if (method.problem == "tensor")
      for (const Dtype dtype : method.dtypes)
        if (units.contains(method.unit(dtype)))
          peaks.push_back(comparison_of(method.name.c_str(), dtype, std::int64_t{1} << 20, kinds, runtime));
  std::erase_if(peaks, [](const Comparison& comparison) { return comparison.cases.empty(); });
  study.comparisons.insert(study.comparisons.begin(), peaks.begin(), peaks.end());
}

KeptPeaks::KeptPeaks(const Runtime& runtime) : folder_(own_folder() / "peaks" / key_of(runtime)) {}

std::optional<Json> KeptPeaks::find(const Comparison& comparison) const {
  const std::filesystem::path file = folder_ / (file_name(comparison.name) + ".json");
  if (comparison.cases.front().algorithm->name != peaks_of || !std::filesystem::exists(file)) return {};
  return read_json(file);
}

void KeptPeaks::keep(const Comparison& comparison, const Json& rows) const {
  if (comparison.cases.front().algorithm->name != peaks_of) return;
  if (!std::ranges::all_of(rows, [](const Json& row) { return row.at("status") == "passed"; })) return;
  try {
    make_folder(folder_);
    write_whole(folder_ / (file_name(comparison.name) + ".json"), text_of(rows) + "\n");
  } catch (const std::runtime_error& error) {  // a build that can only be read: the next run measures them again
    std::cerr << "league: the peaks are not kept: " << error.what() << "\n";
  }
}

}  // namespace league::bench
