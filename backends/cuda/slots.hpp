// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "backends/communicator.hpp"
#include "backends/cuda/collectives.hpp"
#include "backends/cuda/cuda.hpp"
#include "backends/cuda/wait.hpp"

namespace league::cuda {

/// Receive slots on the devices of all shards, initially empty.
class ReceiveSlots {
 public:
  /// Capacity of the slots in values.
  [[nodiscard]] std::int64_t capacity() const { return views_.empty() ? 0 : views_.front().capacity; }
  [[nodiscard]] const DeviceView& view(std::size_t shard) const { return views_.at(shard); }
  /// Number of all-reduces done by each block of `add_stamped` on this shard.
  [[nodiscard]] unsigned* stamps(std::size_t shard) const { return arrays_[shard].stamps.data(); }

  /// Replaces them by slots for at least `values` values. @pre nothing on the devices uses the old ones
  void replace(std::span<Queue* const> queues, std::int64_t values) {
    const std::int64_t blocks = ceil_div<std::int64_t>(values, stamped_block);
    const auto shards = static_cast<std::int64_t>(queues.size());
    DeviceView view{.shards = static_cast<int>(shards), .capacity = blocks * stamped_block};
    views_.clear();
    arrays_.clear();
    for (Queue* queue : queues) {
      Arrays& made = arrays_.emplace_back(Array<Word>(*queue, 2 * view.high()), Array<unsigned>(*queue, blocks));
      made.words.clear();
      made.stamps.clear();
      queue->fence();
    }
    for (std::size_t i = 0; i < arrays_.size(); ++i) view.words[i] = arrays_[i].words.data();
    views_.assign(arrays_.size(), view);
    for (std::size_t i = 0; i < views_.size(); ++i) {
      views_[i].self = static_cast<int>(i);
      views_[i].count = stamps(i);
    }
  }

 private:
  struct Arrays {
    Array<Word> words;
    Array<unsigned> stamps;
  };
  std::vector<Arrays> arrays_;
  std::vector<DeviceView> views_;
};

}  // namespace league::cuda
