// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <string>

#include "backends/runtime.hpp"

namespace league::bench {

/// "2 NVIDIA GPUs" that the drivers of this host list, below a root folder of theirs; empty if there are none.
std::string gpus_of_drivers(const std::filesystem::path& root = "/");

/// That this host has GPUs and the run uses none, and why; empty if it uses one, or there are none.
std::string unused_gpus(const Runtime& runtime, const std::filesystem::path& root = "/");

}  // namespace league::bench
