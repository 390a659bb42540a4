// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "bench/measure/check.hpp"
#include "bench/record/result.hpp"

namespace league::bench {

/// Adds the kernels that a compute of this case launches, or why they are not known: of our own kernels on one GPU,
/// where the case passed. The compute is recorded into a graph and does not run, so that what the host keeps of the
/// case may be wrong afterwards: the last use of it.
void add_kernels(Result& result, PreparedCase& prepared_case);

}  // namespace league::bench
