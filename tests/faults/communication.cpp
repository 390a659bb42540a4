// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>

#include "tests/faults/faults.hpp"

// Faults between the shards: what a case asks of its communicator is not done, or not right.
namespace league::faults {
namespace {

/// Does what the real one does; each fault overrides one call.
class BrokenCommunicator : public Communicator {
 public:
  explicit BrokenCommunicator(const Context& context) : context_(context), real_(context.communicator) {}
  void reserve(std::int64_t bytes, Order order, int lane) override { real_.reserve(bytes, order, lane); }
  void all_reduce(std::span<const Buffer> buffers, Order order, int lane) override {
    real_.all_reduce(buffers, order, lane);
  }
  void reduce_scatter(std::span<const Buffer> buffers, Order order, int lane) override {
    real_.reduce_scatter(buffers, order, lane);
  }
  void all_gather(std::span<const Buffer> buffers, int lane) override { real_.all_gather(buffers, lane); }
  void gather(std::span<const Buffer> pieces, Buffer whole, int lane) override { real_.gather(pieces, whole, lane); }
  void broadcast(std::span<const Buffer> buffers, int lane) override { real_.broadcast(buffers, lane); }
  void exchange(std::span<const Transfer> transfers, int lane) override { real_.exchange(transfers, lane); }
  [[nodiscard]] std::optional<DeviceView> device_view(std::size_t local) override { return real_.device_view(local); }

  /// Times that the call was made that the fault is in.
  [[nodiscard]] int calls() const { return calls_; }

 protected:
  void count() { ++calls_; }
  [[nodiscard]] const Context& context() const { return context_; }

 private:
  const Context context_;
  Communicator& real_;
  int calls_ = 0;
};

class NoAllReduce final : public BrokenCommunicator {
 public:
  using BrokenCommunicator::BrokenCommunicator;
  static constexpr int least_calls = 1;
  void all_reduce(std::span<const Buffer>, Order, int) override { count(); }
};

class NoExchange final : public BrokenCommunicator {
 public:
  using BrokenCommunicator::BrokenCommunicator;
  static constexpr int least_calls = 1;
  void exchange(std::span<const Transfer>, int) override { count(); }
};

/// Every all-reduce yields the sums of the one before; the first, those of the solve before, or zeros.
class LateSums final : public BrokenCommunicator {
 public:
  using BrokenCommunicator::BrokenCommunicator;
  static constexpr int least_calls = 2;
  void reserve(std::int64_t bytes, Order order, int lane) override {
    BrokenCommunicator::reserve(bytes, order, lane);
    before_.clear(), now_.clear();
    for (std::vector<HostArray>* sums : {&before_, &now_})
      for (std::size_t i = 0; i < context().shards.size(); ++i) {
        sums->emplace_back(context().runtime.host_memory(), Dtype::u8, std::vector{bytes});
        std::ranges::fill(sums->back().bytes(), std::byte{0});
      }
  }
  void all_reduce(std::span<const Buffer> buffers, Order order, int lane) override {
    count();
    BrokenCommunicator::all_reduce(buffers, order, lane);
    std::vector<Transfer> keep, yield, move_on;
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      const int shard = context().shards[i].index;
      std::byte *before = before_[i].bytes().data(), *now = now_[i].bytes().data();
      keep.push_back({shard, shard, buffers[i].data, now, buffers[i].bytes()});
      yield.push_back({shard, shard, before, buffers[i].data, buffers[i].bytes()});
      move_on.push_back({shard, shard, now, before, buffers[i].bytes()});
    }
    for (const auto* transfers : {&keep, &yield, &move_on}) exchange(*transfers, lane);
  }

 private:
  std::vector<HostArray> before_, now_;  ///< of each shard
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
    if (communicator_.calls() < C::least_calls) means_nothing("the shards do not speak like this");
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

}  // namespace

std::vector<Fault> communication_faults() {
  return {
      {"no_all_reduce", rewired<NoAllReduce>}, {"no_exchange", rewired<NoExchange>}, {"late_sums", rewired<LateSums>}};
}

}  // namespace league::faults
