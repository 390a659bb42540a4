// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sys/types.h>

#include <span>
#include <string>

#include "backends/python/process.hpp"

namespace league::python {

/// Starts the program, or the module below a supervisor (supervisor.py), in a process group of its own, with `files` as
/// its descriptors 0, 1, 2, ... (-1: /dev/null), on all processors that this process had at its start. The environment
/// is inherited, with the project in PYTHONPATH, `threads` in OMP_NUM_THREADS and similar variables, and without thread
/// binding, which a program keeps, and without `ignored_variables`. The supervisor gets SIGTERM when this process ends,
/// and kills all its descendants.
/// @pre at most 16 files
/// @returns the supervisor's id; negative: see errno
pid_t start_process(const Interpreter& interpreter, const Process::Start& start, std::span<const int> files);

/// "NAME=value" of those of the environment by which a library would not compile or optimise: no process gets them.
std::string ignored_variables();

}  // namespace league::python
