// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/measure/shared_problem.hpp"

#include <algorithm>

#include "bench/measure/check.hpp"

namespace league::bench {
namespace {

HostArray copy_of(const HostArray& array, std::pmr::memory_resource& memory) {
  HostArray copy(memory, array.dtype(), array.shape());
  std::ranges::copy(array.bytes(), copy.bytes().begin());
  return copy;
}

std::unique_ptr<Problem> make(const Case& that, Runtime& runtime, const Dataset* dataset,
                              std::pmr::memory_resource& memory) {
  std::unique_ptr<Problem> problem =
      that.algorithm->make({that.parameters, that.dtype, that.seed, dataset, that.method->problem, that.devices});
  problem->make_inputs(world_of(*problem, that.devices, runtime.ranks().place()).input_rows(), memory);
  return problem;
}

}  // namespace

std::unique_ptr<Problem> make_problem(const Case& that, Runtime& runtime, Datasets& datasets) {
  const Dataset* dataset = that.algorithm->needs_dataset ? &datasets.rows(that.data) : nullptr;
  return make(that, runtime, dataset, runtime.host_memory());
}

/// A problem may take arrays of the dataset as they are, so that these are copied too.
std::unique_ptr<Problem> make_problem(const Case& that, Runtime& runtime, Datasets& datasets,
                                      std::pmr::memory_resource& memory) {
  if (!that.algorithm->needs_dataset) return make(that, runtime, nullptr, memory);
  Dataset dataset = datasets.rows(that.data);
  for (HostArray* array : {&dataset.train, &dataset.train_labels, &dataset.test, &dataset.test_labels})
    *array = copy_of(*array, memory);
  return make(that, runtime, &dataset, memory);
}

}  // namespace league::bench
