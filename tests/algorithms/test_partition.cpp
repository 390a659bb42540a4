// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include "algorithms/contract/partition.hpp"

namespace league {
namespace {

std::vector<Device> devices(int count) {
  std::vector<Device> all;
  for (int index = 0; index < count; ++index) all.push_back({DeviceKind::host, index, 1});
  return all;
}

TEST(Partition, EveryRowHasOneOwnerAndTheRemainderGoesToTheFirst) {
  for (const std::int64_t rows : {0, 1, 2, 7, 8, 9, 17500})
    for (const int count : {1, 2, 3, 8}) {
      const std::vector<Shard> shards = local_shards(partition(rows, count), devices(count));
      ASSERT_EQ(shards.size(), static_cast<std::size_t>(count));
      const Partition world = partition(rows, count);
      EXPECT_EQ(world.alone(), count == 1);
      EXPECT_EQ(world.local_rows(), (Range{0, rows}));
      std::int64_t next = 0, last_size = rows;
      for (const Shard& shard : shards) {
        EXPECT_EQ(shard.rows, world.rows.at(static_cast<std::size_t>(shard.index)));
        EXPECT_EQ(shard.rows.begin, next);
        EXPECT_LE(shard.rows.size(), last_size);
        EXPECT_TRUE(shard.rows.size() == rows / count || shard.rows.size() == rows / count + 1);
        next = shard.rows.end;
        last_size = shard.rows.size();
      }
      EXPECT_EQ(next, rows);
    }
}

TEST(Partition, KnowsTheRowsThatStudiesLost) {
  const std::vector<Shard> shards = local_shards(partition(17500, 8), devices(8));
  EXPECT_EQ(shards[3].rows, (Range{6564, 8752}));
  EXPECT_EQ(shards[4].rows, (Range{8752, 10939}));
  EXPECT_EQ(shards[7].rows, (Range{15313, 17500}));
}

TEST(Partition, ProcessesHoldTheirShardsOfTheSameWorld) {
  const Partition whole = partition(17, 6);
  for (int process = 0; process < 3; ++process) {
    const Partition world = partition(17, 2, process, 3);
    EXPECT_EQ(world.rows, whole.rows);
    EXPECT_FALSE(world.alone());
    const std::vector<Shard> shards = local_shards(world, devices(2));
    EXPECT_EQ(shards[0].index, 2 * process);
    EXPECT_EQ(shards[1].index, 2 * process + 1);
    EXPECT_EQ(world.local_rows(), (Range{shards[0].rows.begin, shards[1].rows.end}));
  }
  EXPECT_FALSE(partition(17, 1, 0, 2).alone()) << "one local shard of two";
}

TEST(Partition, SplitsEveryBatchOverAllShards) {
  for (const std::int64_t rows : {1, 7, 64, 301})
    for (const std::int64_t batch : {1, 3, 64, 128, 1000})
      for (const int processes : {1, 2})
        for (const int devices_each : {1, 3}) {
          const Partition world = partition(rows, devices_each, processes - 1, processes, batch);
          const int shards = devices_each * processes;
          if (batch >= rows) {
            EXPECT_EQ(world.batch, 0);
            EXPECT_EQ(world.rows, partition(rows, shards).rows) << "one batch of all rows: the same split";
            continue;
          }
          ASSERT_EQ(world.batch, batch);
          EXPECT_EQ(world.input_rows(), (Range{0, rows}));
          std::vector<std::int64_t> sizes(static_cast<std::size_t>(shards));
          std::int64_t next = 0;
          for (std::int64_t number = 0; number * batch < rows; ++number)
            for (int shard = 0; shard < shards; ++shard) {
              const Range own = world.in_batch(shard, number);
              EXPECT_EQ(own.begin, next) << "shard " << shard << " of batch " << number;
              const std::int64_t even = std::min(batch, rows - number * batch) / shards;
              EXPECT_TRUE(own.size() == even || own.size() == even + 1);
              next = own.end;
              sizes[static_cast<std::size_t>(shard)] += own.size();
            }
          EXPECT_EQ(next, rows);
          for (std::size_t shard = 0; shard < sizes.size(); ++shard)
            EXPECT_EQ(world.rows[shard].size(), sizes[shard]) << "its rows of all batches";
        }
}

}  // namespace
}  // namespace league
