// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/ceilings/ceilings.hpp"
#include "algorithms/drivers/one_pass.hpp"

namespace league::ceilings {

/// Registration of a kernel: of a bandwidth, of one in floating point, of a rate.
using BandwidthPass = OnePass<Ceilings, float, double, std::int32_t, std::uint8_t>;
using StreamPass = OnePass<Ceilings, float, double>;
using RatePass = OnePass<Ceilings, float, double, std::int32_t>;

}  // namespace league::ceilings
