// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <new>
#include <string>

namespace league::bench {

/// The reason of a case skipped for lack of host memory: what it needs at least, what is free, and under which limit.
std::string out_of_host_memory(const std::bad_alloc& error);

}  // namespace league::bench
