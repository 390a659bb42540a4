// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

#include "backends/communicator.hpp"

namespace league {

/// Forwards each call to one of two engines by its size: `few` up to a limit in bytes of a buffer (gather: of all
/// pieces; exchange: of the longest transfer), `many` above.
class AutoCommunicator final : public Communicator {
 public:
  struct Choice {
    std::string name;
    std::unique_ptr<Communicator> engine{};
    bool taken = false;  ///< has been used
  };
  /// Without an engine in `many`, all calls go to `few`.
  AutoCommunicator(Choice few, Choice many) : few_(std::move(few)), many_(std::move(many)) {}

  void reserve(std::int64_t bytes, Order order, int queue) override;
  void all_reduce(std::span<const Buffer> buffers, Order order, int queue) override;
  void reduce_scatter(std::span<const Buffer> buffers, Order order, int queue) override;
  void all_gather(std::span<const Buffer> buffers, int queue) override;
  void gather(std::span<const Buffer> pieces, Buffer whole, int queue) override;
  void broadcast(std::span<const Buffer> buffers, int queue) override;
  void exchange(std::span<const Transfer> transfers, int queue) override;
  [[nodiscard]] std::optional<DeviceView> device_view(std::size_t local) override;
  [[nodiscard]] std::vector<std::string> taken() const override;

 private:
  Communicator& take(std::int64_t bytes, std::int64_t limit);
  Choice few_, many_;
};

/// Engine "auto": of those that connect these shards, one for few and one for many bytes. @throws Unsupported if none
/// does
std::unique_ptr<Communicator> make_auto_communicator(Runtime& runtime, std::span<const Shard> shards,
                                                     const Partition& world);

}  // namespace league
