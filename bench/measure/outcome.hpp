// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <string>

#include "bench/record/result.hpp"

namespace league::bench {

/// Sets the status; what did not pass has neither samples nor metrics.
void conclude(Result& result, Status status, const std::string& reason);

/// Runs a step of one case on all ranks; an exception on one becomes the result of the case. @returns whether it passed
/// @throws Interrupted
bool attempt(Result& result, const std::function<void()>& step, Ranks& ranks);
/// On this rank alone.
bool attempt(Result& result, const std::function<void()>& step);

}  // namespace league::bench
