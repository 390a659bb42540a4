// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/faults/rewired.hpp"

// Faults of the collectives themselves, each in all of them.
namespace league::faults {
namespace {

/// Overrides of all collectives: `change` says what a call gets in place of its arguments, and what is done after it.
template <class Fault>
class BrokenCollectives : public BrokenCommunicator {
 public:
  static constexpr int min_calls = 1;
  explicit BrokenCollectives(const Context& context) : BrokenCommunicator(context) {}
  void all_reduce(std::span<const Buffer> buffers, Order order, int queue) override {
    call(buffers, queue, [&](const auto& changed) { BrokenCommunicator::all_reduce(changed, order, queue); });
  }
  void reduce_scatter(std::span<const Buffer> buffers, Order order, int queue) override {
    call(buffers, queue, [&](const auto& changed) { BrokenCommunicator::reduce_scatter(changed, order, queue); });
  }
  void all_gather(std::span<const Buffer> buffers, int queue) override {
    call(buffers, queue, [&](const auto& changed) { BrokenCommunicator::all_gather(changed, queue); });
  }
  void broadcast(std::span<const Buffer> buffers, int queue) override {
    call(buffers, queue, [&](const auto& changed) { BrokenCommunicator::broadcast(changed, queue); });
  }
  void exchange(std::span<const Transfer> transfers, int queue) override {
    call(transfers, queue, [&](const auto& changed) { BrokenCommunicator::exchange(changed, queue); });
  }

 private:
  template <class T, class Real>
  void call(std::span<const T> arguments, int queue, const Real& real) {
    count();
    auto& fault = static_cast<Fault&>(*this);
    std::vector<T> changed{arguments.begin(), arguments.end()};
    fault.change(changed);
    real(changed);
    fault.after(arguments, queue);
  }
};

/// The last shard takes part with memory of its own in place of its buffer, and has no neighbours.
class LeftOut final : public BrokenCollectives<LeftOut> {
 public:
  explicit LeftOut(const Context& context)
      : BrokenCollectives(context),
        last_(context.shards.back().index),
        apart_(context.runtime.host_memory(), Dtype::u8,
               {static_cast<std::int64_t>(context.outputs.front().values.bytes().size())}) {
    std::ranges::fill(apart_.bytes(), std::byte{0});
  }
  void change(std::vector<Buffer>& buffers) { buffers.back().data = apart_.bytes().data(); }
  void change(std::vector<Transfer>& transfers) const {
    std::erase_if(transfers, [this](const Transfer& one) { return one.from == last_ || one.to == last_; });
  }
  template <class T>
  void after(std::span<const T>, int) {}

 private:
  int last_;
  HostArray apart_;
};

/// Buffers begin a value late, so that pieces do too; transfers end a word early.
class OffByOne final : public BrokenCollectives<OffByOne> {
 public:
  using BrokenCollectives::BrokenCollectives;
  void change(std::vector<Buffer>& buffers) const {
    for (Buffer& buffer : buffers) {
      buffer.data = static_cast<std::byte*>(buffer.data) + size_bytes(buffer.type);
      --buffer.size;
    }
  }
  void change(std::vector<Transfer>& transfers) const {
    for (Transfer& one : transfers) one.bytes -= 4;
  }
  template <class T>
  void after(std::span<const T>, int) {}
};

/// Every call leaves what the one before has left in its buffers.
class StaleBuffer final : public BrokenCollectives<StaleBuffer> {
 public:
  explicit StaleBuffer(const Context& context) : BrokenCollectives(context) {
    lag_.make_room(context, 2 * context.shards.size(),
                   static_cast<std::int64_t>(context.outputs.front().values.bytes().size()));
  }
  template <class T>
  void change(const std::vector<T>&) const {}
  void after(std::span<const Buffer> buffers, int queue) { step_back(places_of(buffers), queue); }
  void after(std::span<const Transfer> transfers, int queue) {
    std::vector<Lag::Place> places;
    for (const Transfer& one : transfers) places.push_back({one.to, one.target, one.bytes});
    step_back(places, queue);
  }

 private:
  void step_back(const std::vector<Lag::Place>& places, int queue) { lag_.step_back(real(), places, queue); }
  Lag lag_;
};

template <class C>
std::unique_ptr<Prepared> of_collectives(const Site& site) {
  if (site.variant.algorithm != "collectives") means_nothing("for collectives");
  return std::make_unique<Rewired<C>>(site);
}

}  // namespace

std::vector<Fault> collective_faults() {
  return {{"left_out", of_collectives<LeftOut>},
          {"off_by_one", of_collectives<OffByOne>},
          {"stale_buffer", of_collectives<StaleBuffer>}};
}

}  // namespace league::faults
