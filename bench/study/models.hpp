// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/study/case.hpp"

/// Which models there are, and what this build can run here.
namespace league::bench {

enum class State { ready, no_device, not_expressible, missing, not_built };
std::string_view name(State state);

struct Availability {
  State state = State::ready;
  std::string reason;  ///< empty when ready
};

/// Algorithms, and methods as "sum/atomic", that this build leaves out (CMake's LEAGUE_ALGORITHMS).
std::vector<std::string> parts_left_out();

/// What to do about them.
inline constexpr const char* how_to_build = "`bench/run STUDY` builds what the study names";

/// Names of all models that any build of League has, and of the peers that were found.
std::vector<std::string> known_models();

/// The arithmetic unit of a case: its method's, unless its variant computes in another.
std::string unit_of(const Case& that);

/// How the code of a variant of a portable model is written; null for other models, and where this build lacks it.
const Writing* writing_of(std::string_view algorithm, std::string_view method, std::string_view model);

/// The models that a method declares: its own in every language, and its libraries.
std::vector<std::string> declared_models(const Algorithm& algorithm, const Method& method);

/// The executions that make a case of a method in a model. Kokkos' own graphs are for portable models; libraries and
/// peers have those that they register.
std::vector<Execution> executions_of(const Algorithm& algorithm, const Method& method, std::string_view model);

/// Whether it is one of League's own kernels, whose launch can be chosen; a library chooses for itself.
bool is_own(std::string_view model);

/// Whether this build has the model at all, for any algorithm.
bool is_built(const Runtime& runtime, std::string_view model);

/// The kind of device that a variant runs on; of one that this build lacks, the kind of its model.
DeviceKind device_kind(std::string_view algorithm, std::string_view method, std::string_view model);
DeviceKind device_kind(const Case& that);

Availability availability(const Runtime& runtime, const Algorithm& algorithm, const Method& method,
                          std::string_view model, Execution execution = Execution::stream);
Availability availability(const Runtime& runtime, const Case& that);

/// "gpu", "host".
std::string_view name(DeviceKind kind);

/// How many devices of a kind a study may ask for: the GPUs that answer; on a host as many groups of threads as a
/// node has GPUs, so that partitioning can be tested anywhere.
int max_devices(const Runtime& runtime, DeviceKind kind);

/// The devices of a case on this rank. @throws Unsupported as Runtime::devices
std::vector<Device> devices_of(const Runtime& runtime, const Case& that);

}  // namespace league::bench
