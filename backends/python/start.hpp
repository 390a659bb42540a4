// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sys/types.h>

#include <span>

#include "backends/python/process.hpp"

namespace league::python {

/// Starts the module in a process group of its own, with `files` as its descriptors 0, 1, 2, ... (-1: /dev/null), on
/// all processors that this process had at its start. It is killed when this process ends.
/// @pre at most 16 files
/// @returns its id; below 0: errno says why
pid_t start_process(const Interpreter& interpreter, const Process::Start& start, std::span<const int> files);

}  // namespace league::python
