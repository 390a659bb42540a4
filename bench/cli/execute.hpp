// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "bench/cli/interrupt.hpp"
#include "bench/cli/options.hpp"
#include "bench/errors.hpp"
#include "bench/study/study.hpp"

namespace league::bench {

/// The cases that the options ask for: those of the study, narrowed by --comparison and --benchmark_filter; of `league
/// run` with their launches set.
/// @throws BadInput if there are none, or not as many devices as --devices says
Study asked_study(const Options& options, const Runtime& runtime, Datasets& datasets);

/// `league run`: reads the study, then runs, lists, describes or profiles it as the options say.
/// @throws BadInput, Interrupted, std::runtime_error (a record that cannot be written)
ExitCode execute(const Options& options, Runtime& runtime, const InterruptWatch& interrupt);

}  // namespace league::bench
