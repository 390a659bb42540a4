// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/models.hpp"

#include <algorithm>
#include <array>

#include "bench/build_info.hpp"

namespace league::bench {
namespace {

struct Known {
  std::string_view name;
  DeviceKind device;
  bool own;  ///< written by us; the others are libraries
};
constexpr std::array<Known, 8> known{{{"serial", DeviceKind::host, true},
                                      {"openmp", DeviceKind::host, true},
                                      {"kokkos", DeviceKind::host, true},
                                      {"cuda", DeviceKind::gpu, true},
                                      {"hip", DeviceKind::gpu, true},
                                      {"cub", DeviceKind::gpu, false},
                                      {"cublas", DeviceKind::gpu, false},
                                      {"kokkos_kernels", DeviceKind::host, false}}};

/// Some variant of this model; null if this build has none.
const Variant* any_variant(std::string_view model) {
  const auto& variants = registry().variants;
  const auto found =
      std::ranges::find_if(variants, [&](const Variant& variant) { return variant.model.name == model; });
  return found == variants.end() ? nullptr : &*found;
}

Availability of_registered(const Runtime& runtime, const Variant& variant) {
  if (!variant.obstacle.empty()) return {State::not_built, variant.obstacle};
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

std::vector<std::string> known_models() {
  std::vector<std::string> names;
  for (const Known& model : known) names.emplace_back(model.name);
  for (const Variant& variant : registry().variants)
    if (std::ranges::find(names, variant.model.name) == names.end()) names.emplace_back(variant.model.name);
  return names;
}

std::vector<std::string> declared_models(const Method& method) {
  std::vector<std::string> models;
  if (method.own_models)
    for (const Known& model : known)
      if (model.own) models.emplace_back(model.name);
  models.insert(models.end(), method.libraries.begin(), method.libraries.end());
  return models;
}

std::string unit_of(const Case& that) {
  const Variant* variant = registry().variant(that.algorithm->name, that.method->name, that.model);
  const bool own = variant != nullptr && variant->units.contains(that.dtype);
  return own ? variant->units.at(that.dtype) : that.method->unit(that.dtype);
}

bool is_own(std::string_view model) {
  return std::ranges::any_of(known, [&](const Known& one) { return one.own && one.name == model; });
}

bool is_built(const Runtime& runtime, std::string_view model) {
  return runtime.backend(model) != nullptr || any_variant(model) != nullptr;
}

DeviceKind device_kind(std::string_view algorithm, std::string_view method, std::string_view model) {
  if (const Variant* variant = registry().variant(algorithm, method, model)) return variant->model.device;
  if (const Variant* variant = any_variant(model)) return variant->model.device;
  const auto found = std::ranges::find(known, model, &Known::name);
  return found == known.end() ? DeviceKind::host : found->device;
}

DeviceKind device_kind(const Case& that) { return device_kind(that.algorithm->name, that.method->name, that.model); }

Availability availability(const Runtime& runtime, const Algorithm& algorithm, const Method& method,
                          std::string_view model) {
  const auto why = method.not_expressible.find(std::string(model));
  if (why != method.not_expressible.end()) return {State::not_expressible, why->second};
  if (const Variant* variant = registry().variant(algorithm.name, method.name, model))
    return of_registered(runtime, *variant);
  if (!is_built(runtime, model))
    return {State::not_built,
            "not built: this build (preset " + std::string(build_info::preset) + ") has no " + std::string(model)};
  return {State::missing, "missing: no " + std::string(model) + " kernel of this method yet"};
}

std::string_view name(DeviceKind kind) { return kind == DeviceKind::gpu ? "gpu" : "host"; }

int most_devices(const Runtime& runtime, DeviceKind kind) {
  constexpr int gpus_in_a_node = 8;
  if (kind == DeviceKind::gpu) return static_cast<int>(runtime.gpus().size());
  return std::max(gpus_in_a_node, runtime.host_threads());
}

}  // namespace league::bench
