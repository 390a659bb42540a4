// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/cnn/cnn.hpp"

namespace league::cnn {

/// Of the last step alone, from the variant's own state: roundings that send a maximum elsewhere drive trainings apart.
/// Its decisions are held against double and followed, its loss and gradient bounded, its update replayed. The first
/// steps are taken in double from the initial weights.
[[nodiscard]] Verdict judge(const Cnn& problem, const Outputs& outputs, Reduce& reduce);

}  // namespace league::cnn
