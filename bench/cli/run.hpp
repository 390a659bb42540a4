// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "bench/cli/interrupt.hpp"
#include "bench/cli/options.hpp"
#include "bench/errors.hpp"
#include "bench/json.hpp"
#include "bench/study/study.hpp"

namespace league::bench {

/// What determines the records of a study, with the devices and the build.
Json manifest(const Options& options, const Study& study, const Runtime& runtime, const Datasets& datasets,
              const Json& peers);

/// Runs a study, comparison after comparison, recorded by rank 0. @returns failed if a row is
ExitCode run_study(const Options& options, Runtime& runtime, Datasets& datasets, const InterruptWatch& interrupt,
                   const Study& study, const Json& peers);

}  // namespace league::bench
