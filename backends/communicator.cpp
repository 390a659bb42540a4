// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/communicator.hpp"

#include <algorithm>
#include <set>

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

/// For a single shard: no communication.
class Alone final : public Communicator {
 public:
  void all_reduce(std::span<const Buffer>, Order, int) override {}
  void reduce_scatter(std::span<const Buffer>, Order, int) override {}
  void all_gather(std::span<const Buffer>, int) override {}
  void gather(std::span<const Buffer> pieces, Buffer whole, int) override {
    if (!pieces.empty() && pieces.front().data != whole.data)
      throw std::logic_error("a single shard must gather in place");
  }
  void broadcast(std::span<const Buffer>, int) override {}
  void exchange(std::span<const Transfer> transfers, int) override {
    if (!transfers.empty()) throw std::logic_error("a single shard has no neighbours");
  }
};

}  // namespace

bool Room::grow(std::int64_t bytes, Order order, int queue) {
  std::int64_t* room = bytes_[queue];
  const bool more = bytes > room[static_cast<int>(order)];
  for (const Order covered : {Order::any, order})
    room[static_cast<int>(covered)] = std::max(room[static_cast<int>(covered)], bytes);
  return more;
}

void Room::require(std::span<const Buffer> buffers, std::size_t local, Order order, int queue) const {
  require_alike(buffers, local);
  if (const std::int64_t room = bytes_[queue][static_cast<int>(order)]; buffers.front().bytes() > room)
    throw std::logic_error("a sum of " + std::to_string(buffers.front().bytes()) + " bytes on queue " +
                           std::to_string(queue) + ": " + std::to_string(room) + " are reserved for its order");
}

void require_alike(std::span<const Buffer> buffers, std::size_t local) {
  if (buffers.size() != local)
    throw std::logic_error(std::to_string(buffers.size()) + " buffers of " + std::to_string(local) + " shards");
  for (const Buffer& buffer : buffers)
    if (buffer.size != buffers.front().size || buffer.type != buffers.front().type)
      throw std::logic_error("the buffers of a call differ in size or type");
}

RegisterEngine::RegisterEngine(std::string name, DeviceKind kind, CommunicatorFactory make) {
  engines().push_back({std::move(name), kind, make});
}

std::vector<std::string> engine_names() {
  std::set<std::string> names;
  for (const Engine& engine : engines()) names.insert(engine.name);
  return {names.begin(), names.end()};
}

std::vector<std::string> engine_names(DeviceKind kind) {
  std::set<std::string> names;
  for (const Engine& engine : engines())
    if (engine.kind == kind && engine.make != nullptr) names.insert(engine.name);
  return {names.begin(), names.end()};
}

std::unique_ptr<Communicator> make_communicator(Runtime& runtime, std::span<const Shard> shards, const Partition& world,
                                                std::string_view engine) {
  if (world.alone()) return std::make_unique<Alone>();
  const DeviceKind kind = shards.front().device.kind;
  const auto found = std::ranges::find_if(engines(), [&](const Engine& known) {
    return known.make != nullptr && known.name == engine && known.kind == kind;
  });
  if (found == engines().end())
    throw Unsupported("no communicator '" + std::string(engine) + "' between " +
                      (kind == DeviceKind::gpu ? "GPUs" : "host devices") + " in this build");
  return found->make(runtime, shards, world);
}

void require_one_process(const Partition& world, std::string_view engine) {
  if (world.local < static_cast<int>(world.rows.size()))
    throw Unsupported("communicator '" + std::string(engine) + "' connects the devices of one process: " +
                      std::to_string(world.local) + " of " + std::to_string(world.rows.size()) + " shards are local");
}

}  // namespace league
