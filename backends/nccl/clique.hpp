// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "backends/nccl/library.hpp"
#include "backends/runtime.hpp"

namespace league::nccl {

/// NCCL communicators, one per local device, shared by both queues: NCCL serialises operations on several streams,
/// while two sets of communicators on the same devices could deadlock.
class Clique {
 public:
  /// Collective.
  Clique(std::span<const Shard> shards, const Partition& world, Ranks& ranks);
  ~Clique();
  Clique(const Clique&) = delete;
  Clique& operator=(const Clique&) = delete;
  [[nodiscard]] ncclComm_t operator[](std::size_t i) const { return all_[i]; }
  /// Aborts operations that still wait for other ranks.
  void abort();

 private:
  const Library& calls_ = library();
  std::vector<ncclComm_t> all_;
};

/// The communicators of these shards. Creation takes seconds, so the runtime caches them until a step fails.
std::shared_ptr<Clique> clique_of(Runtime& runtime, std::span<const Shard> shards, const Partition& world);

}  // namespace league::nccl
