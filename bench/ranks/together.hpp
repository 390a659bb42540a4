// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <functional>

#include "backends/ranks.hpp"

/// What the ranks of a run do together. Alone, each of these is the plain thing.
namespace league::bench {

/// Runs a step on every rank. Where it throws on one, it throws on all, the same everywhere: what weighs most
/// (Interrupted, errors, BadInput, Unsupported), with the rank and its host in front unless all say the same.
void together(Ranks& ranks, const std::function<void()>& step);

/// Whether it holds on any rank, on every one; the largest and the smallest value of all.
bool any_rank(Ranks& ranks, bool here);
bool every_rank(Ranks& ranks, bool here);
double largest(Ranks& ranks, double here);
std::int64_t smallest(Ranks& ranks, std::int64_t here);

}  // namespace league::bench
