// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include "bench/data/partition.hpp"

namespace league::bench {
namespace {

std::vector<Device> devices(int count) {
  std::vector<Device> all;
  for (int index = 0; index < count; ++index) all.push_back({DeviceKind::host, index, 1});
  return all;
}

TEST(Partition, EveryRowHasOneOwnerAndTheRemainderGoesToTheFirst) {
  for (const std::int64_t rows : {0, 1, 2, 7, 8, 9, 17500})
    for (const int count : {1, 2, 3, 8}) {
      const std::vector<Shard> shards = partition(rows, devices(count));
      ASSERT_EQ(shards.size(), static_cast<std::size_t>(count));
      std::int64_t next = 0, last_size = rows;
      for (const Shard& shard : shards) {
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
  const std::vector<Shard> shards = partition(17500, devices(8));
  EXPECT_EQ(shards[3].rows, (Range{6564, 8752}));
  EXPECT_EQ(shards[4].rows, (Range{8752, 10939}));
  EXPECT_EQ(shards[7].rows, (Range{15313, 17500}));
}

}  // namespace
}  // namespace league::bench
