// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "bench/cli/interrupt.hpp"
#include "bench/cli/options.hpp"
#include "bench/errors.hpp"

namespace league::bench {

/// `league run --sample N --seed S`: draws variants, shapes, types, launches and numbers of devices until N of them
/// ran, and checks each against the oracle, twice; nothing is timed. Problems stay within the memory budget (256 MiB
/// where none is given) and within what the oracle does in about a second. --benchmark_filter narrows the names that
/// are drawn. The same seed draws the same on builds with the same variants.
/// @returns failed if a result was wrong; prints each such case, and how many of each variant ran
/// @throws Interrupted; BadInput if no variant here matches
ExitCode sample_cases(const Options& options, Runtime& runtime, const InterruptWatch& interrupt);

}  // namespace league::bench
