// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "bench/cli/interrupt.hpp"
#include "bench/cli/options.hpp"
#include "bench/errors.hpp"

namespace league::bench {

/// `league tune`: searches the launches of every own kernel of a study, comparison after comparison, and keeps what it
/// finds in the tuned file of the device, and the records of all candidates.
/// @throws BadInput, Interrupted, std::runtime_error (a file that cannot be written)
ExitCode tune(const Options& options, Runtime& runtime, const InterruptWatch& interrupt);

}  // namespace league::bench
