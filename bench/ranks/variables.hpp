// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

#include "bench/json.hpp"

namespace league::bench {

/// The environment variables that are set of those that choose devices, bind threads or change times: an object of
/// strings.
Json variables_here();

/// What these do to a run, in sentences: tools, launches that wait, lists of GPUs that hide some. Empty where nothing
/// is disturbed. `variables`: as `variables_here` returns them.
std::vector<std::string> variable_faults(const Json& variables);

}  // namespace league::bench
