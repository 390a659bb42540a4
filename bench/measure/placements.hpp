// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <vector>

#include "bench/measure/ready.hpp"

namespace league::bench {

/// Where the arrays of a case lie decides which slices of the last-level cache hold them, for as long as they live. On
/// an H200, kernels of 2 to 8 us on data in that cache differed by up to 4.4 % between two preparations of one variant
/// (tests/README.md, Verdicts). So samples of one placement are not independent, and a short case is sampled at
/// several, in turn. The number of samples stays the same: each placement costs a preparation and a check. With twenty,
/// 2 % more work is found in 93 % of the trials, with ten in 88 %.
inline constexpr int short_case_placements = 20;
/// At most, in seconds of one solve on the device's clock: more than twice the longest for which it was seen.
inline constexpr double short_case_s = 20e-6;

/// At how many placements a case asks to be sampled: as many as its study says; else `short_case_placements` for a
/// short case on a GPU whose arrays fit the last-level cache, and one for all others. Always one for a case that times
/// itself in another process, or that runs on several devices.
int placements_needed(const Ready& ready);

/// Prepares cases at further placements, as many for all that are sampled alike, but no more than a case has samples.
/// All placements of a case live at once, so that none gets memory that another one has freed. Placement after
/// placement: the arrays of the other cases lie between those of one. `attempt` runs a step for a case; where that
/// fails, the case leaves the group.
void open_placements(std::vector<Ready>& group,
                     const std::function<bool(Ready&, const std::function<void()>&)>& attempt,
                     const std::function<std::int64_t(const Case&)>& memory_budget_bytes);

/// Checks what the last samples left at the further placements. @throws std::runtime_error if one is wrong
void check_placements(const Ready& ready);

}  // namespace league::bench
