// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <new>
#include <string>

namespace league::bench {

/// Sets a limit (RLIMIT_AS), so that an allocation beyond the free host memory fails and its case is skipped. Without
/// it the allocation succeeds, and the kernel kills the process when the memory is touched.
void limit_memory();

/// Host memory that can still be allocated, under the limit and of what is free.
std::int64_t spare_memory_bytes();

/// The reason of a case skipped for lack of host memory: what it needs at least, and what is free.
std::string out_of_host_memory(const std::bad_alloc& error);

}  // namespace league::bench
