// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/study/end_to_end.hpp"

#include <algorithm>
#include <array>

namespace league::bench {

std::vector<HostMemory> read_end_to_end(const Axes& axes) {
  static constexpr std::array every{HostMemory::pageable, HostMemory::pinned};
  const Value *wanted = axes.find("end_to_end"), *memory = axes.find("host_memory");
  if (memory != nullptr && wanted == nullptr)
    memory->refuse("host_memory",
                   "is that of end-to-end times, which this study does not take: add `end_to_end = "
                   "true`, or leave it out");
  const std::vector<std::string> words = axes.words("host_memory", {"pageable", "pinned"});
  if (wanted == nullptr || !wanted->truth("end_to_end")) return {};
  std::vector<HostMemory> found;
  for (const HostMemory one : every)
    if (memory == nullptr || std::ranges::find(words, name(one)) != words.end()) found.push_back(one);
  return found;
}

}  // namespace league::bench
