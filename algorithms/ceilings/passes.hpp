// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/ceilings/ceilings.hpp"
#include "algorithms/drivers/one_pass.hpp"

namespace league::ceilings {

/// What kernel files register.
using CeilingPass = OnePass<Ceilings, float, double, std::int32_t>;

}  // namespace league::ceilings
