// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/communicator.hpp"

#include <algorithm>
#include <cstring>

namespace league {
namespace {

struct Engine {
  std::string name;
  DeviceKind kind;
  CommunicatorFactory make;
};
std::vector<Engine>& engines() {
  static std::vector<Engine> all;
  return all;
}

/// A shard alone has nobody to talk to.
class Alone final : public Communicator {
 public:
  void sum(std::span<const std::span<double>>) override {}
  void gather(std::span<const std::span<const std::byte>> pieces, std::span<std::byte> whole) override {
    if (!pieces.empty() && pieces.front().data() != whole.data())
      throw std::logic_error("one shard gathers where its piece lies");
  }
};

/// Host devices run one after another, so all that was queued before is done.
class HostCommunicator final : public Communicator {
 public:
  void sum(std::span<const std::span<double>> buffers) override {
    total_.assign(buffers.front().size(), 0.0);
    for (const auto& buffer : buffers)
      for (std::size_t i = 0; i < total_.size(); ++i) total_[i] += buffer[i];
    for (const auto& buffer : buffers) std::ranges::copy(total_, buffer.begin());
  }
  void gather(std::span<const std::span<const std::byte>> pieces, std::span<std::byte> whole) override {
    std::size_t begin = 0;
    for (const auto& piece : pieces) {
      if (!piece.empty() && piece.data() != whole.data() + begin)
        std::memmove(whole.data() + begin, piece.data(), piece.size());
      begin += piece.size();
    }
  }

 private:
  std::vector<double> total_;
};

const RegisterEngine host{"local", DeviceKind::host,
                          [](Runtime&, std::span<const Shard>) -> std::unique_ptr<Communicator> {
                            return std::make_unique<HostCommunicator>();
                          }};

}  // namespace

RegisterEngine::RegisterEngine(std::string name, DeviceKind kind, CommunicatorFactory make) {
  engines().push_back({std::move(name), kind, make});
}

std::unique_ptr<Communicator> make_communicator(Runtime& runtime, std::span<const Shard> shards,
                                                std::string_view engine) {
  if (shards.size() < 2) return std::make_unique<Alone>();
  const DeviceKind kind = shards.front().device.kind;
  const auto found =
      std::ranges::find_if(engines(), [&](const Engine& known) { return known.name == engine && known.kind == kind; });
  if (found == engines().end())
    throw Unsupported("no communicator '" + std::string(engine) + "' between " +
                      (kind == DeviceKind::gpu ? "GPUs" : "host devices") + " in this build");
  return found->make(runtime, shards);
}

}  // namespace league
