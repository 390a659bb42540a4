// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <string>

#include "algorithms/contract/problem.hpp"

namespace league::bench {

/// Looks for the cause of wrong results: values that are never written, and values that differ from run to run.
/// @param outputs wrong results; overwritten @param again computes them once more, from poisoned outputs
/// @returns as Diagnosed::diagnosis
std::string diagnose(Outputs& outputs, const std::function<void()>& again);

/// Whether two values of a parameter are the same text or the same number.
bool means_same(const std::string& one, const std::string& other);

}  // namespace league::bench
