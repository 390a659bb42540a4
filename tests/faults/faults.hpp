// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "algorithms/contract/registry.hpp"

/// Variants that are wrong on purpose, for the executable `league_faults`.
namespace league::faults {

/// Makes a wrong variant from a real one.
struct Fault {
  std::string name;
  std::string description;
  std::function<std::unique_ptr<Prepared>(const Variant& real, const Problem&, const Context&)> prepare;
};

/// Changes results that lie on the host.
using Edit = std::function<void(Outputs&)>;
std::unique_ptr<Prepared> edited(const Variant& real, const Problem& problem, const Context& context, Edit edit);

/// Those that need to know nothing of the algorithm.
const std::vector<Fault>& common_faults();

/// Adds a method `fault_<name>` to an algorithm for each fault, with every model that the real method has.
void plant(const std::string& algorithm, const std::string& method, const std::vector<Fault>& faults);

/// Adds the method `tunable`: right, wrong, slow or refused, as its league says.
void plant_launches();

void plant_in_vector_add();
void plant_in_knn();

}  // namespace league::faults
