// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>

#include "bench/errors.hpp"
#include "bench/study/study.hpp"

namespace league::bench {

/// Names of all cases, one a line: --benchmark_list_tests.
ExitCode list_cases(const Study& study, std::ostream& out);

/// The cases, the memory of their inputs and outputs, what the device with the most takes, and an estimate of the time;
/// inputs are made, device memory is not taken: --dry-run. `given`: the memory budget of a device.
ExitCode preview(const Study& study, Runtime& runtime, Datasets& datasets, std::ostream& out,
                 std::optional<std::int64_t> given);

/// The case as --profile runs it. A profiler may run a case's kernels one at a time, each of them several times (kernel
/// replay): kernels of several GPUs that wait for each other would never end, so that the sums go in two kernels each.
Case replayable(Case that);

/// Runs one case once, without checks or marks around it: --profile. `given`: the memory budget of a device.
/// @throws BadInput if the study has no such case
ExitCode profile(const Study& study, const std::string& name, Runtime& runtime, Datasets& datasets,
                 std::optional<std::int64_t> given);

/// Runs the only case of a study once and writes what its shards do in a compute (bench/measure/step_trace.hpp) to
/// `file`: --trace-steps. Steps that are recorded into a graph are traced one by one, as a stream.
/// @throws BadInput if there are several cases, or the case cannot be traced
ExitCode trace_steps(const Study& study, const std::filesystem::path& file, Runtime& runtime, Datasets& datasets,
                     std::optional<std::int64_t> given);

}  // namespace league::bench
