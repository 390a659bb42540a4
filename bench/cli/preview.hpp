// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>

#include "bench/cli/flags.hpp"
#include "bench/errors.hpp"
#include "bench/study/study.hpp"

namespace league::bench {

/// --benchmark_list_tests: names of all cases, one per line.
ExitCode list_cases(const Study& study, std::ostream& out);

/// --dry-run: the cases, the memory of their inputs and outputs, the memory of the device that needs the most, and an
/// estimate of the time; as text, or as JSON with all that is known of each case. Makes inputs, allocates no device
/// memory. `given`: the memory budget of a device.
ExitCode preview(const Study& study, Runtime& runtime, Datasets& datasets, std::ostream& out,
                 std::optional<std::int64_t> given, BenchmarkFlags::Format format);

/// The case as --profile runs it. A profiler may run a case's kernels one at a time, each of them several times (kernel
/// replay): kernels of several GPUs that wait for each other would deadlock, so that each all-reduce is done by two
/// kernels.
Case replayable(Case that);

/// --profile: runs one case once, without checks and timing marks. `given`: the memory budget of a device.
/// @throws BadInput if the study has no such case
ExitCode profile(const Study& study, const std::string& name, Runtime& runtime, Datasets& datasets,
                 std::optional<std::int64_t> given);

/// --trace-steps: runs the only case of a study once and writes what its shards do in a compute
/// (bench/measure/step_trace.hpp) to `file`. Steps that are recorded into a graph are traced one by one, as a stream.
/// @throws BadInput if there are several cases, or the case cannot be traced
ExitCode trace_steps(const Study& study, const std::filesystem::path& file, Runtime& runtime, Datasets& datasets,
                     std::optional<std::int64_t> given);

}  // namespace league::bench
