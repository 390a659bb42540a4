// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "backends/runtime.hpp"

namespace league::tests {

/// The one runtime of the test program: Kokkos can be started only once in a process.
Runtime& runtime();

}  // namespace league::tests
