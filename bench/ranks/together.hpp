// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <functional>

#include "backends/ranks.hpp"

/// Collective steps with the same outcome on all ranks. With one rank, each is a plain call.
namespace league::bench {

/// Runs a step on every rank. If it throws on one, the same exception is thrown on all: that of the highest priority
/// (Interrupted, errors, BadInput, Unsupported), prefixed with the rank and its host unless all have the same message.
void together(Ranks& ranks, const std::function<void()>& step);

/// Whether a condition holds on any rank, on every rank; the maximum and the minimum over the ranks.
bool any_rank(Ranks& ranks, bool here);
bool every_rank(Ranks& ranks, bool here);
double largest(Ranks& ranks, double here);
std::int64_t smallest(Ranks& ranks, std::int64_t here);

}  // namespace league::bench
