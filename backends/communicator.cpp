// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/communicator.hpp"

#include <algorithm>
#include <vector>

namespace league {
namespace {

/// Host devices run one after another, so a sum is a loop.
class HostCommunicator final : public Communicator {
 public:
  void sum(std::span<const std::span<double>> buffers) override {
    if (buffers.empty()) return;
    std::vector<double> total(buffers.front().size(), 0.0);
    for (const auto& buffer : buffers)
      for (std::size_t i = 0; i < total.size(); ++i) total[i] += buffer[i];
    for (const auto& buffer : buffers) std::ranges::copy(total, buffer.begin());
  }
};

class NoCommunicator final : public Communicator {
 public:
  void sum(std::span<const std::span<double>>) override {
    throw Unsupported("no exchange between GPUs in this build yet: use one device");
  }
};

}  // namespace

std::unique_ptr<Communicator> local_communicator(Runtime&, std::span<const Shard> shards) {
  if (std::ranges::any_of(shards, [](const Shard& shard) { return shard.device.kind == DeviceKind::gpu; }))
    return std::make_unique<NoCommunicator>();
  return std::make_unique<HostCommunicator>();
}

}  // namespace league
