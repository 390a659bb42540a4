// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cstdlib>
#include <map>
#include <stdexcept>

#include "tests/faults/faults.hpp"

namespace league::faults {
namespace {

using Shorter = std::map<const Problem*, std::unique_ptr<Problem>>;

/// The problem of these parameters with one step fewer, its inputs made; null if it has none to spare.
std::unique_ptr<Problem> with_a_step_fewer(const std::function<std::unique_ptr<Problem>(const Making&)>& make,
                                           Making making) {
  const auto steps = making.parameters.values.find("steps");
  if (steps == making.parameters.values.end() || making.parameters.integer("steps") < 2) return nullptr;
  steps->second = std::to_string(making.parameters.integer("steps") - 1);
  std::unique_ptr<Problem> problem = make(making);
  problem->make_inputs({0, problem->extent()}, *std::pmr::get_default_resource());
  return problem;
}

Fault named(const std::string& name) {
  for (const std::vector<Fault>& faults :
       {common_faults(), communication_faults(), collective_faults(), specific_faults()})
    if (const auto found = std::ranges::find(faults, name, &Fault::name); found != faults.end()) return *found;
  throw std::invalid_argument("LEAGUE_FAULT: there is no fault '" + name + "'");
}

/// Plants once all that is real has registered: backends start after that, the last of them last.
const RegisterBackend planted{"faults", 99, [](const Runtime&) -> std::unique_ptr<Backend> {
                                if (const char* name = std::getenv("LEAGUE_FAULT"); name != nullptr)
                                  plant(named(name));
                                else
                                  plant_launches();
                                return std::make_unique<Backend>();
                              }};

}  // namespace

void plant(const Fault& fault) {
  const auto shorter = std::make_shared<Shorter>();
  for (Algorithm& algorithm : registry().algorithms)
    algorithm.make = [make = algorithm.make, shorter](const Making& making) {
      std::unique_ptr<Problem> problem = make(making);
      (*shorter)[problem.get()] = with_a_step_fewer(make, making);
      return problem;
    };
  for (Variant& variant : registry().variants)
    variant.prepare = [real = variant, fault, shorter](const Problem& problem, const Context& context) {
      return fault.plant({real, problem, shorter->at(&problem).get(), context});
    };
}

}  // namespace league::faults
