// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "bench/json.hpp"
#include "bench/measure/comparison.hpp"
#include "bench/record/save.hpp"

namespace league::bench {

/// Saves the results of a comparison that an earlier launch of this run has recorded, as far as they are not saved:
/// each passed case is computed once more and checked, not timed; its record stays as it is.
/// @returns whether all went well; what did not is said on stderr. @throws Interrupted
bool save_again(const Comparison& comparison, const Json& record, const SaveFolders& folders, const Venue& venue);

}  // namespace league::bench
