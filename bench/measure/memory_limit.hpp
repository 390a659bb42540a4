// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <new>
#include <string>

namespace league::bench {

/// From here on an allocation of more host memory than the machine has to spare fails, so that its case is skipped.
/// Without a limit it would succeed, and the system would kill the process when the memory is touched.
void limit_memory();

/// How much more host memory can be taken, under the limit and of what the machine has to spare.
std::int64_t spare_memory_bytes();

/// Why a case is skipped whose arrays found no host memory: what they need at least, and what there is without them.
std::string out_of_host_memory(const std::bad_alloc& error);

}  // namespace league::bench
