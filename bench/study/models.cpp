// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/study/models.hpp"

#include <algorithm>
#include <array>

#include "backends/model.hpp"
#include "backends/split.hpp"
#include "bench/build_info.hpp"

namespace league::bench {
namespace {

/// Any variant of this model; null if this build has none.
const Variant* any_variant(std::string_view model) {
  const auto& variants = registry().variants;
  const auto found =
      std::ranges::find_if(variants, [&](const Variant& variant) { return variant.model.name == model; });
  return found == variants.end() ? nullptr : &*found;
}

bool has(const Variant& variant, Execution execution) {
  return std::ranges::find(variant.executions, execution) != variant.executions.end();
}

/// Why a model cannot express a method; empty if it can.
std::string why_not_expressible(const Method& method, std::string_view model, Execution execution) {
  const std::string in(model), as(name(execution));
  for (const std::string& key : {in, as, in + "/" + as})
    if (const auto why = method.not_expressible.find(key); why != method.not_expressible.end()) return why->second;
  const ModelFacts* facts = model_facts(model);
  const bool only_hosts = facts != nullptr && facts->own && !facts->portable && facts->device == DeviceKind::host;
  return only_hosts && execution != Execution::stream ? "no launches to record on a host" : "";
}

Availability of_registered(const Runtime& runtime, const Variant& variant) {
  if (!variant.unavailable.empty()) return {State::not_built, variant.unavailable};
  const Backend* backend = runtime.backend(variant.model.backend);
  if (backend != nullptr && !backend->unavailable().empty()) return {State::no_device, backend->unavailable()};
  if (variant.model.device == DeviceKind::gpu && runtime.gpus().empty()) return {State::no_device, "no GPU answers"};
  return {};
}

}  // namespace

std::string_view name(State state) {
  static constexpr std::array names{"ready", "no_device", "not_expressible", "missing", "not_built"};
  return names[static_cast<std::size_t>(state)];
}

std::vector<std::string> parts_left_out() { return split(std::string(build_info::left_out), ';'); }

std::vector<std::string> known_models() {
  std::vector<std::string> names;
  for (const ModelFacts& model : registered_models()) names.push_back(model.name);
  for (const Variant& variant : registry().variants)
    if (std::ranges::find(names, variant.model.name) == names.end()) names.emplace_back(variant.model.name);
  return names;
}

std::vector<std::string> declared_models(const Algorithm& algorithm, const Method& method) {
  std::vector<std::string> models;
  if (method.own_models)
    for (const ModelFacts& model : registered_models())
      if (model.own && (model.expected || registry().variant(algorithm.name, method.name, model.name) != nullptr))
        models.push_back(model.name);
  models.insert(models.end(), method.libraries.begin(), method.libraries.end());
  return models;
}

std::vector<Execution> executions_of(const Algorithm& algorithm, const Method& method, std::string_view model) {
  const ModelFacts* facts = model_facts(model);
  const Variant* variant = registry().variant(algorithm.name, method.name, model);
  std::vector<Execution> found = registry().executions(algorithm.name, method);
  std::erase_if(found, [&](Execution execution) {
    if (variant != nullptr && !is_own(model)) return !has(*variant, execution);
    return execution == Execution::kokkos_graph && (facts == nullptr || !facts->portable);
  });
  return found;
}

std::string unit_of(const Case& that) {
  const Variant* variant = registry().variant(that.algorithm->name, that.method->name, that.model);
  const bool own = variant != nullptr && variant->units.contains(that.dtype);
  return own ? variant->units.at(that.dtype) : that.method->unit(that.dtype);
}

const Writing* writing_of(std::string_view algorithm, std::string_view method, std::string_view model) {
  const ModelFacts* facts = model_facts(model);
  const Variant* variant = registry().variant(algorithm, method, model);
  return facts != nullptr && facts->portable && variant != nullptr ? &variant->writing : nullptr;
}

bool is_own(std::string_view model) {
  const ModelFacts* facts = model_facts(model);
  return facts != nullptr && facts->own;
}

bool is_built(const Runtime& runtime, std::string_view model) {
  return runtime.backend(model) != nullptr || any_variant(model) != nullptr;
}

DeviceKind device_kind(std::string_view algorithm, std::string_view method, std::string_view model) {
  if (const Variant* variant = registry().variant(algorithm, method, model)) return variant->model.device;
  if (const Variant* variant = any_variant(model)) return variant->model.device;
  const ModelFacts* facts = model_facts(model);
  return facts == nullptr ? DeviceKind::host : facts->device;
}

DeviceKind device_kind(const Case& that) { return device_kind(that.algorithm->name, that.method->name, that.model); }

Availability availability(const Runtime& runtime, const Algorithm& algorithm, const Method& method,
                          std::string_view model, Execution execution) {
  const std::string why = why_not_expressible(method, model, execution);
  if (!why.empty()) return {State::not_expressible, why};
  const Variant* variant = registry().variant(algorithm.name, method.name, model);
  if (variant != nullptr && has(*variant, execution)) return of_registered(runtime, *variant);
  if (!is_built(runtime, model))
    return {State::not_built,
            "not built: this build (preset " + std::string(build_info::preset) + ") has no " + std::string(model)};
  const std::vector<std::string> without = parts_left_out();
  if (variant == nullptr &&
      std::ranges::any_of(without, [&](const std::string& part) { return part.starts_with(algorithm.name + "/"); }))
    return {State::not_built, "not built: this build has only some methods of " + algorithm.name + "; " + how_to_build};
  const std::string what = variant == nullptr ? "" : " with execution " + std::string(name(execution));
  return {State::missing, "missing: no " + std::string(model) + " kernel of this method" + what + " yet"};
}

Availability availability(const Runtime& runtime, const Case& that) {
  return availability(runtime, *that.algorithm, *that.method, that.model, that.execution);
}

std::string_view name(DeviceKind kind) { return kind == DeviceKind::gpu ? "gpu" : "host"; }

int max_devices(const Runtime& runtime, DeviceKind kind) {
  constexpr int max_gpus_per_node = 8;
  if (kind == DeviceKind::gpu) return runtime.gpus_of_all_ranks();
  return std::max(max_gpus_per_node, runtime.host_threads()) * runtime.ranks().place().size;
}

std::vector<Device> devices_of(const Runtime& runtime, const Case& that) {
  std::vector<Device> devices = runtime.devices(device_kind(that), that.devices);
  const int here = static_cast<int>(devices.size());
  if (that.threads > 0 && device_kind(that) == DeviceKind::host)
    for (Device& device : devices) device.threads = std::clamp(that.threads / here, 1, device.threads);
  return devices;
}

}  // namespace league::bench
