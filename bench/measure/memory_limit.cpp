// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/measure/memory_limit.hpp"

#include "algorithms/contract/budget.hpp"
#include "backends/array.hpp"
#include "backends/host_limits.hpp"

namespace league::bench {

std::string out_of_host_memory(const std::bad_alloc& error) {
  const auto* of_array = dynamic_cast<const OutOfHostMemory*>(&error);
  const std::int64_t needed = of_array == nullptr ? 0 : of_array->total_bytes() - HostArray::total_bytes();
  const FreeMemory left = free_host_memory();
  return "out of host memory: " + (needed > 0 ? "needs at least " + readable_bytes(needed) + ", " : "") +
         readable_bytes(left.free_bytes) + " are free" + (left.limit.empty() ? "" : " under " + left.limit);
}

}  // namespace league::bench
