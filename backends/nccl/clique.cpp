// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/nccl/clique.hpp"

#include <cuda_runtime.h>

#include <map>
#include <string>
#include <utility>

namespace league::nccl {
namespace {

/// Key: devices, and total number of shards.
using KeptCliques = std::map<std::pair<std::vector<int>, std::size_t>, std::shared_ptr<Clique>>;

}  // namespace

Clique::Clique(std::span<const Shard> shards, const Partition& world, Ranks& ranks) : all_(shards.size()) {
  const int size = static_cast<int>(world.rows.size());
  if (ranks.place().alone()) {
    std::vector<int> devices;
    for (const Shard& shard : shards) devices.push_back(shard.device.index);
    calls_.check(calls_.init(all_.data(), size, devices.data()));
    return;
  }
  ncclUniqueId id{};
  if (ranks.place().leads()) calls_.check(calls_.new_id(&id));
  ranks.broadcast(std::as_writable_bytes(std::span(&id, 1)), 0);  // all ranks have entered the call now
  group(calls_, [&] {
    for (std::size_t i = 0; i < shards.size(); ++i) {
      if (cudaSetDevice(shards[i].device.index) != cudaSuccess)
        throw std::runtime_error("GPU " + std::to_string(shards[i].device.index) + " cannot be made the current one");
      calls_.check(calls_.init_rank(&all_[i], size, id, shards[i].index));
    }
  });
}

Clique::~Clique() {
  for (ncclComm_t one : all_) static_cast<void>(calls_.destroy(one));
}

void Clique::abort() {
  for (ncclComm_t one : std::exchange(all_, {})) static_cast<void>(calls_.abort(one));
}

std::shared_ptr<Clique> clique_of(Runtime& runtime, std::span<const Shard> shards, const Partition& world) {
  std::vector<int> devices;
  for (const Shard& shard : shards) devices.push_back(shard.device.index);
  auto& kept = runtime.attachment<KeptCliques>(shards.front().device, [] { return KeptCliques(); });
  std::shared_ptr<Clique>& clique = kept[{devices, world.rows.size()}];
  if (clique == nullptr) {
    clique = std::make_shared<Clique>(shards, world, runtime.ranks());
    runtime.ranks().on_failure([&clique] {
      if (clique != nullptr) clique->abort();
      clique = nullptr;
    });
  }
  return clique;
}

}  // namespace league::nccl
