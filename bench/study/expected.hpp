// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <vector>

#include "bench/study/case.hpp"
#include "bench/study/value.hpp"

namespace league::bench {

/// Reads `expect = { accuracy = [0.9885, 0.9940] }`: the expected ranges of figures of the check. A result
/// outside still passes; the report shows it. @throws BadInput naming place and key
std::vector<Band> read_expected(const Value& value);

}  // namespace league::bench
