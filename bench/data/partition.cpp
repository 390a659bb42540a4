// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/data/partition.hpp"

namespace league::bench {

std::vector<Shard> partition(std::int64_t rows, std::span<const Device> devices) {
  const auto count = static_cast<std::int64_t>(devices.size());
  std::vector<Shard> shards;
  std::int64_t begin = 0;
  for (const Device& device : devices) {
    const auto place = static_cast<std::int64_t>(shards.size());
    const std::int64_t size = rows / count + (place < rows % count ? 1 : 0);
    shards.push_back({device, {begin, begin + size}});
    begin += size;
  }
  return shards;
}

}  // namespace league::bench
