// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "bench/errors.hpp"
#include "bench/interrupt.hpp"
#include "bench/options.hpp"

namespace league::bench {

/// `league run`: reads the study, then runs, lists, describes or profiles it as the options say.
/// @throws BadInput, Interrupted, std::runtime_error (a record that cannot be written)
ExitCode execute(const Options& options, Runtime& runtime, const InterruptWatch& interrupt);

}  // namespace league::bench
