// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/faults/rewired.hpp"

// Faults between the shards: what a case asks of its communicator is not done, or not right.
namespace league::faults {
namespace {

class NoAllReduce final : public BrokenCommunicator {
 public:
  using BrokenCommunicator::BrokenCommunicator;
  static constexpr int min_calls = 1;
  void all_reduce(std::span<const Buffer>, Order, int) override { count(); }
};

class NoExchange final : public BrokenCommunicator {
 public:
  using BrokenCommunicator::BrokenCommunicator;
  static constexpr int min_calls = 1;
  void exchange(std::span<const Transfer>, int) override { count(); }
};

/// Every all-reduce yields the sums of the one before on its queue; the first, those of the solve before, or zeros.
class LateSums final : public BrokenCommunicator {
 public:
  using BrokenCommunicator::BrokenCommunicator;
  static constexpr int min_calls = 2;
  void reserve(std::int64_t bytes, Order order, int queue) override {
    BrokenCommunicator::reserve(bytes, order, queue);
    if (bytes <= room_bytes_[queue]) return;
    room_bytes_[queue] = bytes;
    lags_[queue].make_room(context(), context().shards.size(), bytes);
  }
  void all_reduce(std::span<const Buffer> buffers, Order order, int queue) override {
    count();
    BrokenCommunicator::all_reduce(buffers, order, queue);
    lags_[queue].step_back(real(), places_of(buffers), queue);
  }

 private:
  Lag lags_[queue_count];
  std::int64_t room_bytes_[queue_count] = {};
};

}  // namespace

std::vector<Fault> communication_faults() {
  return {
      {"no_all_reduce", rewired<NoAllReduce>}, {"no_exchange", rewired<NoExchange>}, {"late_sums", rewired<LateSums>}};
}

}  // namespace league::faults
