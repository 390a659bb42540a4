// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

#include "bench/json.hpp"
#include "bench/study/study.hpp"

namespace league::bench {

/// The file in a folder of records that describes the run.
inline constexpr const char* manifest_name = "run.json";

/// What must be equal for records of two program launches to be one run: the study with its settings, the data files,
/// build, machine and options.
Json make_manifest(const Study& study, const Runtime& runtime, const Datasets& datasets, const Json& options);

/// Whether it has the keys that `make_manifest` of this version or an earlier one writes.
bool is_manifest(const Json& json);

/// In words, what differs between two manifests; empty if nothing does. @pre both are manifests
std::string difference(const Json& before, const Json& now);

}  // namespace league::bench
