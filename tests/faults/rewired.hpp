// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>

#include "tests/faults/faults.hpp"

/// What faults between shards are made of: a communicator that is wrong in one call, in place of the real one.
namespace league::faults {

/// Keeps what a call has left in some places, and puts there what the call before has left; at first, zeros.
class Lag {
 public:
  struct Place {
    int shard;
    void* data;
    std::int64_t bytes;
  };
  void make_room(const Context& context, std::size_t places, std::int64_t bytes) {
    before_.clear(), now_.clear();
    for (std::vector<HostArray>* kept : {&before_, &now_})
      for (std::size_t i = 0; i < places; ++i) {
        kept->emplace_back(context.runtime.host_memory(), Dtype::u8, std::vector{bytes});
        std::ranges::fill(kept->back().bytes(), std::byte{0});
      }
  }
  void step_back(Communicator& communicator, std::span<const Place> places, int queue) {
    std::vector<Transfer> keep, yield, move_on;
    for (std::size_t i = 0; i < places.size(); ++i) {
      const auto [shard, data, bytes] = places[i];
      std::byte *before = before_[i].bytes().data(), *now = now_[i].bytes().data();
      keep.push_back({shard, shard, data, now, bytes});
      yield.push_back({shard, shard, before, data, bytes});
      move_on.push_back({shard, shard, now, before, bytes});
    }
    for (const auto* transfers : {&keep, &yield, &move_on}) communicator.exchange(*transfers, queue);
  }

 private:
  std::vector<HostArray> before_, now_;  ///< of each place
};

/// Does what the real one does; each fault overrides one call.
class BrokenCommunicator : public Communicator {
 public:
  explicit BrokenCommunicator(const Context& context) : context_(context), real_(context.communicator) {}
  void reserve(std::int64_t bytes, Order order, int queue) override { real_.reserve(bytes, order, queue); }
  void all_reduce(std::span<const Buffer> buffers, Order order, int queue) override {
    real_.all_reduce(buffers, order, queue);
  }
  void reduce_scatter(std::span<const Buffer> buffers, Order order, int queue) override {
    real_.reduce_scatter(buffers, order, queue);
  }
  void all_gather(std::span<const Buffer> buffers, int queue) override { real_.all_gather(buffers, queue); }
  void gather(std::span<const Buffer> pieces, Buffer whole, int queue) override { real_.gather(pieces, whole, queue); }
  void broadcast(std::span<const Buffer> buffers, int queue) override { real_.broadcast(buffers, queue); }
  void exchange(std::span<const Transfer> transfers, int queue) override { real_.exchange(transfers, queue); }
  [[nodiscard]] std::optional<DeviceView> device_view(std::size_t local) override { return real_.device_view(local); }

  /// Times that the call was made that the fault is in.
  [[nodiscard]] int calls() const { return calls_; }

 protected:
  void count() { ++calls_; }
  [[nodiscard]] const Context& context() const { return context_; }
  [[nodiscard]] Communicator& real() const { return real_; }
  /// The memory of a call, one place a shard.
  [[nodiscard]] std::vector<Lag::Place> places_of(std::span<const Buffer> buffers) const {
    std::vector<Lag::Place> places;
    for (std::size_t i = 0; i < buffers.size(); ++i)
      places.push_back({context_.shards[i].index, buffers[i].data, buffers[i].bytes()});
    return places;
  }

 private:
  const Context context_;
  Communicator& real_;
  int calls_ = 0;
};

/// A case whose shards speak through a broken communicator.
template <class C>
class Rewired final : public Broken {
 public:
  explicit Rewired(const Site& site) : Rewired(site, std::make_shared<C>(site.context)) {}
  /// And one compute, which shows whether the fault is in its way.
  void upload() override {
    Broken::upload();
    Stages stages;
    reset();
    compute(stages);
    fence();
    if (communicator_.calls() < C::min_calls) means_nothing("the shards do not speak like this");
  }

 private:
  Rewired(const Site& site, const std::shared_ptr<C>& communicator)
      : Broken(site.variant.prepare(site.problem, site.with(*communicator, site.context.outputs)), communicator),
        communicator_(*communicator) {}
  const C& communicator_;
};

template <class C>
std::unique_ptr<Prepared> rewired(const Site& site) {
  return std::make_unique<Rewired<C>>(site);
}

}  // namespace league::faults
