// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <span>

#include "algorithms/contract/problem.hpp"

namespace league {

/// Fails `verdict` unless all processes hold the same bits of these replicated outputs.
void judge_agreement(Verdict& verdict, std::span<const Output> replicated, Reduce& reduce);

}  // namespace league
