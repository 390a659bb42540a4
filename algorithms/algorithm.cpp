// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/algorithm.hpp"

#include <algorithm>
#include <stdexcept>

namespace league {

Verdict& Verdict::operator+=(const Verdict& other) {
  rows_checked += other.rows_checked;
  worst = std::max(worst, other.worst);
  ties += other.ties;
  if (message.empty()) message = other.message;
  figures.insert(figures.end(), other.figures.begin(), other.figures.end());
  return *this;
}

void Stages::stage(Queue& queue, const char* name, const std::function<void()>& body) {
  queue.push_range(name);
  begin(queue, name);
  body();
  end(queue, name);
  queue.pop_range();
}

std::int64_t Parameters::integer(std::string_view name) const { return std::stoll(choice(name)); }

const std::string& Parameters::choice(std::string_view name) const {
  const auto found = values.find(name);
  if (found == values.end()) throw std::logic_error("no parameter '" + std::string(name) + "' in this case");
  return found->second;
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
