// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "bench/json.hpp"
#include "bench/measure/comparison.hpp"
#include "bench/record/save.hpp"

namespace league::bench {

/// Saves missing results of a comparison that an earlier launch of this run recorded: each passed case is computed
/// again and checked, not timed; its record is not changed.
/// @returns whether all passed; errors go to stderr. @throws Interrupted
bool save_again(const Comparison& comparison, const Json& record, const SaveFolders& folders, const RunContext& run);

}  // namespace league::bench
