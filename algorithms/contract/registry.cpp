// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/contract/registry.hpp"

#include <algorithm>
#include <stdexcept>

namespace league {

std::string Method::unit(Dtype dtype) const {
  const auto own = units.find(dtype);
  return own == units.end() ? std::string(league::name(dtype)) : own->second;
}

std::unique_ptr<Problem> Algorithm::make_whole(const Making& making, std::pmr::memory_resource& memory) const {
  std::unique_ptr<Problem> problem = make(making);
  problem->make_inputs({0, problem->extent()}, memory);
  return problem;
}

const Algorithm* Registry::algorithm(std::string_view name) const {
  const auto found = std::ranges::find(algorithms, name, &Algorithm::name);
  return found == algorithms.end() ? nullptr : &*found;
}

const Variant* Registry::variant(std::string_view algorithm, std::string_view method, std::string_view model) const {
  const auto found = std::ranges::find_if(variants, [&](const Variant& variant) {
    return variant.algorithm == algorithm && variant.method == method && variant.model.name == model;
  });
  return found == variants.end() ? nullptr : &*found;
}

std::vector<Execution> Registry::executions(std::string_view algorithm, const Method& method) const {
  std::vector<Execution> found = method.executions;
  for (const Variant& variant : variants)
    if (variant.algorithm == algorithm && variant.method == method.name)
      found.insert(found.end(), variant.executions.begin(), variant.executions.end());
  std::ranges::sort(found);
  found.erase(std::ranges::unique(found).begin(), found.end());
  return found;
}

Registry& registry() {
  static Registry all;
  return all;
}

const Making& within_bounds(const Making& making, std::string_view algorithm) {
  const Algorithm* known = registry().algorithm(algorithm);
  if (known == nullptr) throw std::logic_error("no algorithm '" + std::string(algorithm) + "' is registered");
  for (const Parameter& parameter : known->parameters) parameter.require_bounds(making.parameters);
  return making;
}

RegisterAlgorithm::RegisterAlgorithm(Algorithm algorithm) { registry().algorithms.push_back(std::move(algorithm)); }

void register_variant(Variant variant) {
  require_valid(variant.writing, variant.algorithm + "/" + variant.method + "/" + std::string(variant.model.name));
  registry().variants.push_back(std::move(variant));
}

}  // namespace league
