// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/cnn/cnn.hpp"

namespace league::cnn {

/// Checks the last step, starting from the variant's own state, because trainings diverge when rounding changes a
/// maximum. Its decisions are checked against double and then followed; loss and gradient are checked within bounds,
/// the update is recomputed. The first steps are checked against double from the initial weights.
[[nodiscard]] Verdict judge(const Cnn& problem, const Outputs& outputs, Reduce& reduce);

}  // namespace league::cnn
