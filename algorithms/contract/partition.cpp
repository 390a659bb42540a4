// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/contract/partition.hpp"

namespace league {

Partition partition(std::int64_t rows, int devices, int process, int processes) {
  const int count = devices * processes;
  Partition world{.first_local = process * devices, .local = devices};
  std::int64_t begin = 0;
  for (int shard = 0; shard < count; ++shard) {
    const std::int64_t size = rows / count + (shard < rows % count ? 1 : 0);
    world.rows.push_back({begin, begin + size});
    begin += size;
  }
  return world;
}

std::vector<Shard> local_shards(const Partition& world, std::span<const Device> devices) {
  std::vector<Shard> shards;
  for (const Device& device : devices) {
    const int index = world.first_local + static_cast<int>(shards.size());
    shards.push_back({device, world.rows.at(static_cast<std::size_t>(index)), index});
  }
  return shards;
}

}  // namespace league
