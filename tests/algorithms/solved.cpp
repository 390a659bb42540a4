// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/algorithms/solved.hpp"

#include <algorithm>

#include "algorithms/contract/partition.hpp"
#include "tests/runtime.hpp"

namespace league::tests {

std::vector<const Variant*> variants(const std::string& algorithm, const Wanted& wanted) {
  std::vector<const Variant*> found;
  for (const Variant& variant : registry().variants) {
    const Backend* backend = runtime().backend(variant.model.backend);
    if (variant.algorithm == algorithm && backend != nullptr && backend->unavailable().empty() &&
        (!wanted || wanted(variant)))
      found.push_back(&variant);
  }
  return found;
}

Wanted solving(const std::string& problem) {
  return [problem](const Variant& variant) {
    const std::vector<Method>& methods = registry().algorithm(variant.algorithm)->methods;
    return std::ranges::find(methods, variant.method, &Method::name)->problem == problem;
  };
}

std::string name_of(const Variant& variant) { return variant.method + " " + std::string(variant.model.name); }

Solved::Solved(const Variant& variant, const Problem& problem, const Setting& setting)
    : world(partition(problem.extent(), setting.devices, setting.process, setting.processes, problem.batch_rows())),
      shards(local_shards(world, runtime().devices(variant.model.device, setting.devices))),
      results(problem.make_outputs(world.local_rows(), runtime().host_memory())),
      communicator(make_communicator(runtime(), shards, partition(problem.extent(), setting.devices))) {
  if (setting.change) setting.change(shards);
  prepared = variant.prepare(
      problem, Context{runtime(), shards, world, *communicator, results, setting.budget, setting.execution});
  prepared->configure(setting.launch);
  prepared->upload();
  again();
}

void Solved::again() {
  Stages stages;
  prepared->reset();
  prepared->compute(stages);
  prepared->download();
  prepared->fence();
}

}  // namespace league::tests
