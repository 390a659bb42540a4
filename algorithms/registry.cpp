// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/registry.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <stdexcept>

namespace league {

std::vector<Parameter> with_dataset_sizes(std::vector<Parameter> own) {
  std::vector<Parameter> all;
  for (const auto& [name, what] :
       {std::pair{"train", "training rows"}, {"test", "rows to classify"}, {"features", "values of a row"}})
    all.push_back({.name = name,
                   .kind = Parameter::Kind::size,
                   .standard = "0",
                   .least = 0,
                   .description = std::string(what) + "; 0: what the dataset gives"});
  std::ranges::move(own, std::back_inserter(all));
  return all;
}

void require(bool condition, const std::string& message) {
  if (!condition) throw std::invalid_argument(message);
}

std::int64_t Parameters::integer(std::string_view name) const { return std::stoll(choice(name)); }

double Parameters::real(std::string_view name) const {
  const std::string& text = choice(name);  // std::stod throws below the normal range
  double value = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc())
    throw std::logic_error("'" + text + "' of '" + std::string(name) + "' is no number");
  return value;
}

const std::string& Parameters::choice(std::string_view name) const {
  const auto found = values.find(name);
  if (found == values.end()) throw std::logic_error("no parameter '" + std::string(name) + "' in this case");
  return found->second;
}

std::string Method::unit(Dtype dtype) const {
  const auto own = units.find(dtype);
  return own == units.end() ? std::string(league::name(dtype)) : own->second;
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

Registry& registry() {
  static Registry all;
  return all;
}

RegisterAlgorithm::RegisterAlgorithm(Algorithm algorithm) { registry().algorithms.push_back(std::move(algorithm)); }

}  // namespace league
