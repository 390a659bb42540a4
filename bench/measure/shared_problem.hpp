// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <memory_resource>

#include "bench/data/dataset.hpp"
#include "bench/study/case.hpp"

namespace league::bench {

/// The problem that the cases of a comparison share; its inputs in the runtime's host memory.
std::unique_ptr<Problem> make_problem(const Case& that, Runtime& runtime, Datasets& datasets);
/// The same with its inputs in other host memory, which outlives it.
std::unique_ptr<Problem> make_problem(const Case& that, Runtime& runtime, Datasets& datasets,
                                      std::pmr::memory_resource& memory);

}  // namespace league::bench
