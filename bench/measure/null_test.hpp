// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "bench/study/study.hpp"

namespace league::bench {

/// Adds an A/A (null) test to each comparison that wants one: its first native case that can run here (else its first
/// portable one) is measured twice, the second time as ".../null:1". A verdict other than "same" is a false positive.
void add_null_tests(Study& study);

/// Removes null tests whose case was removed.
void drop_lone_null_tests(Study& study);

/// Longer computes get no null test.
inline constexpr double max_null_test_s = 1;

}  // namespace league::bench
