// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "bench/measure/self_timed.hpp"
#include "bench/record/result.hpp"

namespace league::bench {

/// Of a peer: stages inside its compute; on a GPU, copies alone: its first upload makes the context and the arrays too.
/// @pre the result has its latency
void take_stages(Result& result, SelfTimed& peer);

}  // namespace league::bench
