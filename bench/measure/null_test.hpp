// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "bench/study/study.hpp"

namespace league::bench {

/// Two equal variants must come out the same: gives each comparison that wants it a null test, its first native case
/// that can run here (else its first portable one) once more under a name of its own, ".../null:1", after all others. A
/// verdict that tells the two apart is false.
void add_null_tests(Study& study);

/// Removes the null tests whose case is not there any more.
void drop_lone_null_tests(Study& study);

/// Beyond this, a compute is too long to be measured twice.
inline constexpr double longest_null_test_s = 1;

}  // namespace league::bench
