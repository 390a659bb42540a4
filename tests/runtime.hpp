// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdlib>

#include "backends/runtime.hpp"

namespace league::tests {

/// The one runtime of the test program: Kokkos can be started only once in a process.
Runtime& runtime();

/// LEAGUE_NIGHTLY: combinations that tests leave out because of their time are tried too.
inline const bool nightly = std::getenv("LEAGUE_NIGHTLY") != nullptr;

}  // namespace league::tests
