// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

namespace league::bench {

/// Starts as many threads as OpenMP will, and ends them: where it cannot, its runtime ends the process or crashes.
/// @throws BadInput for too many threads, for stacks that kernels overflow, and where the system refuses a thread
void require_startable_threads();

/// What makes them fewer than asked for, and what OpenMP ignores of its variables, in sentences. `threads`: those of a
/// parallel region.
std::vector<std::string> thread_faults(int threads);

}  // namespace league::bench
