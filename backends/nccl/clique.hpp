// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "backends/nccl/library.hpp"
#include "backends/runtime.hpp"

namespace league::nccl {

/// NCCL's communicators, one per device here. Both lanes share them: what is queued on several streams, NCCL carries
/// out one after another, and two sets on the same devices could wait for each other.
class Clique {
 public:
  /// All ranks make it together.
  Clique(std::span<const Shard> shards, const Partition& world, Ranks& ranks);
  ~Clique();
  Clique(const Clique&) = delete;
  Clique& operator=(const Clique&) = delete;
  [[nodiscard]] ncclComm_t operator[](std::size_t i) const { return all_[i]; }
  /// Ends what still waits for other ranks.
  void abort();

 private:
  const Library& calls_ = library();
  std::vector<ncclComm_t> all_;
};

/// The communicators of these shards. To make some takes seconds, so that the runtime keeps them, until a step fails.
std::shared_ptr<Clique> clique_of(Runtime& runtime, std::span<const Shard> shards, const Partition& world);

}  // namespace league::nccl
