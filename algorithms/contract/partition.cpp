// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/contract/partition.hpp"

namespace league {

Partition partition(std::int64_t rows, int devices, int process, int processes, std::int64_t batch) {
  const int count = devices * processes;
  Partition world{.first_local = process * devices, .local = devices};
  if (batch == 0 || batch >= rows)
    batch = std::max<std::int64_t>(rows, 1);
  else
    world.batch = batch;
  std::int64_t begin = 0;
  for (int shard = 0; shard < count; ++shard) {
    const std::int64_t size =
        rows / batch * piece_of(batch, count, shard).size() + piece_of(rows % batch, count, shard).size();
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
