// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>

#include "bench/measure/check.hpp"
#include "bench/measure/energy.hpp"
#include "bench/measure/measure.hpp"

namespace league::bench {

/// The energy of one compute of a case, by the counters of its devices; with the reason where it cannot be measured.
/// `check_interrupt` is called between computes, and throws Interrupted. @throws what a compute throws
Energy energy_of_case(PreparedCase& prepared_case, Meter& meter, const std::function<void()>& check_interrupt);

}  // namespace league::bench
