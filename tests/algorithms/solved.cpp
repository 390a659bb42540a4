// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/algorithms/solved.hpp"

#include <gtest/gtest.h>

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

namespace {

const Method& method_of(const Variant& variant) {
  return *std::ranges::find(registry().algorithm(variant.algorithm)->methods, variant.method, &Method::name);
}

}  // namespace

Wanted solving(const std::string& problem) {
  return [problem](const Variant& variant) { return method_of(variant).problem == problem; };
}

Wanted taking(Dtype dtype) {
  return [dtype](const Variant& variant) {
    const std::vector<Dtype>& dtypes = method_of(variant).dtypes;
    return std::ranges::find(dtypes, dtype) != dtypes.end();
  };
}

bool has_devices(const Variant& variant, int devices) {
  return variant.model.device == DeviceKind::host || devices <= std::ssize(runtime().gpus());
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

void any_league_that_fits(const std::vector<const Variant*>& variants, const Problem& problem) {
  constexpr int too_many = 1 << 20;
  for (const Variant* variant : variants)
    for (const int league : {1, 2, 3, 10, too_many}) {
      SCOPED_TRACE(name_of(*variant) + " league " + std::to_string(league));
      const bool of_threads = variant->model.name == std::string_view("openmp");
      try {
        Solved run(*variant, problem, {.launch = {.league = league}});
        EXPECT_TRUE(of_threads || league < too_many) << "not refused";
        EXPECT_TRUE(problem.check_alone(*run.outputs).passed());
        run.again();
        EXPECT_TRUE(problem.check_alone(*run.outputs).passed()) << "the second solve";
      } catch (const Unsupported& refused) {
        EXPECT_GT(league, 1) << refused.what();
        EXPECT_NE(std::string(refused.what()).find("at the same time"), std::string::npos) << refused.what();
      }
    }
}

}  // namespace league::tests
