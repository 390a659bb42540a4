// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/paired.hpp"

#include <omp.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

#include "algorithms/contract/partition.hpp"
#include "backends/host_collectives.hpp"
#include "tests/runtime.hpp"

namespace league::tests {
namespace {

thread_local int this_rank = -1;

/// Rendezvous of the ranks. A rank runs while it holds the lock.
class Rendezvous {
 public:
  /// Gets what all ranks have brought, in their order.
  using Combine = std::function<void(std::span<void* const>)>;

  void begin(int ranks) {
    calls_.assign(static_cast<std::size_t>(ranks), {});
    arrived_ = left_ = 0;
    failure_ = nullptr;
  }
  void run(int rank, const std::function<void()>& body) {
    const std::scoped_lock turn(running_);
    this_rank = rank;
    try {
      body();
    } catch (...) {
      if (failure_ == nullptr) failure_ = std::current_exception();
    }
    ++left_;
    changed_.notify_all();
  }
  void rethrow() const {
    if (failure_ != nullptr) std::rethrow_exception(failure_);
  }

  /// The last rank that comes combines. `what` says which call it is, and must be the same for all.
  void join(const std::string& what, void* brought, const Combine& combine) {
    if (this_rank < 0) throw std::logic_error(what + ": not within on_ranks");
    const std::size_t round = round_;
    calls_[static_cast<std::size_t>(this_rank)] = {what, brought};
    if (++arrived_ == calls_.size()) {
      arrived_ = 0;
      ++round_;
      changed_.notify_all();
      outcome_ = outcome_of(combine);
    } else {
      changed_.wait(running_, [&] { return round_ != round || left_ > 0; });
      if (round_ == round)
        throw std::logic_error(what + ": rank " + std::to_string(this_rank) + " waits, another has ended");
    }
    if (outcome_ != nullptr) std::rethrow_exception(outcome_);
  }

 private:
  struct Call {
    std::string what;
    void* brought = nullptr;
  };
  std::exception_ptr outcome_of(const Combine& combine) const {
    try {
      std::vector<void*> brought;
      for (const Call& call : calls_) {
        if (call.what != calls_.front().what)
          throw std::logic_error("ranks differ in what they call: " + calls_.front().what + ", " + call.what);
        brought.push_back(call.brought);
      }
      combine(brought);
      return nullptr;
    } catch (...) {
      return std::current_exception();
    }
  }
  std::mutex running_;
  std::condition_variable_any changed_;
  std::vector<Call> calls_;
  std::size_t arrived_ = 0, left_ = 0, round_ = 0;
  std::exception_ptr outcome_, failure_;
};

Rendezvous& rendezvous() {
  static Rendezvous all;
  return all;
}

std::string text(std::string_view call, const Buffer& buffer, std::string_view more = "") {
  return std::string(call) + " of " + std::to_string(buffer.size) + " " + std::string(name(buffer.type)) +
         std::string(more);
}

class PairedCommunicator final : public Communicator {
 public:
  PairedCommunicator(Runtime& runtime, std::span<const Shard> shards, const Partition& world)
      : local_(shards.size()), world_(world) {
    for (int queue = 0; queue < queue_count; ++queue) queues_[queue] = &runtime.queue(shards.front().device, queue);
  }

  void reserve(std::int64_t bytes, Order order, int queue) override { room_.grow(bytes, order, queue); }
  void all_reduce(std::span<const Buffer> buffers, Order order, int queue) override {
    room_.require(buffers, local_, order, queue);
    submit(queue, text("all_reduce", buffers.front(), order == Order::any ? ", any" : ", ordered"), buffers,
           host::all_reduce);
  }
  void reduce_scatter(std::span<const Buffer> buffers, Order order, int queue) override {
    room_.require(buffers, local_, order, queue);
    submit(queue, text("reduce_scatter", buffers.front(), order == Order::any ? ", any" : ", ordered"), buffers,
           host::reduce_scatter);
  }
  void all_gather(std::span<const Buffer> buffers, int queue) override {
    require_alike(buffers, local_);
    submit(queue, text("all_gather", buffers.front()), buffers, host::all_gather);
  }
  /// The whole comes first of what a rank brings.
  void gather(std::span<const Buffer> pieces, Buffer whole, int queue) override {
    std::vector<Buffer> brought{pieces.begin(), pieces.end()};
    if (world_.first_local == 0) brought.insert(brought.begin(), whole);
    submit<Buffer>(queue, "gather", brought, [](std::span<const Buffer> all) {
      std::int64_t bytes = 0;
      for (const Buffer& piece : all.subspan(1)) bytes += piece.bytes();
      if (bytes != all.front().bytes()) throw std::logic_error("gather: the whole is not as long as its pieces");
      host::gather(all.subspan(1), all.front());
    });
  }
  void broadcast(std::span<const Buffer> buffers, int queue) override {
    require_alike(buffers, local_);
    submit(queue, text("broadcast", buffers.front()), buffers, host::broadcast);
  }
  void exchange(std::span<const Transfer> transfers, int queue) override {
    std::vector<End> ends;
    for (const Transfer& one : transfers) {
      if (here(one.from)) ends.push_back({one, true});
      if (here(one.to)) ends.push_back({one, false});
      if (!here(one.from) && !here(one.to)) throw std::logic_error("exchange: neither end is here");
    }
    submit<End>(queue, "exchange", ends, exchange_ends);
  }

 private:
  /// A transfer as the rank of one end of it gives it.
  struct End {
    Transfer transfer;
    bool is_source;
  };
  [[nodiscard]] bool here(int shard) const {
    return shard >= world_.first_local && shard < world_.first_local + world_.local;
  }
  /// The n-th source between two shards belongs to their n-th target.
  static void exchange_ends(std::span<const End> all) {
    std::map<std::pair<int, int>, std::array<std::vector<Transfer>, 2>> by_shards;
    for (const End& end : all)
      by_shards[{end.transfer.from, end.transfer.to}][end.is_source ? 0 : 1].push_back(end.transfer);
    std::vector<Transfer> whole;
    for (const auto& [shards, ends] : by_shards) {
      const auto& [sources, targets] = ends;
      if (sources.size() != targets.size()) throw std::logic_error("exchange: a transfer has one end");
      for (std::size_t i = 0; i < sources.size(); ++i) {
        if (sources[i].bytes != targets[i].bytes) throw std::logic_error("exchange: the ends differ in size");
        whole.push_back({shards.first, shards.second, sources[i].source, targets[i].target, sources[i].bytes});
      }
    }
    host::exchange(whole);
  }

  /// Queues a meeting, in which `operation` gets what all ranks have brought, one after another.
  template <class T, class Operation>
  void submit(int queue, const std::string& what, std::span<const T> mine, const Operation& operation) {
    queues_[queue]->submit([what, mine = std::vector(mine.begin(), mine.end()), operation]() mutable {
      rendezvous().join(what, &mine, [&](std::span<void* const> brought) {
        std::vector<T> all;
        for (const void* one : brought)
          all.insert(all.end(), static_cast<const std::vector<T>*>(one)->begin(),
                     static_cast<const std::vector<T>*>(one)->end());
        operation(std::span<const T>(all));
      });
    });
  }

  std::size_t local_;
  Partition world_;
  Queue* queues_[queue_count] = {};
  Room room_;
};

const RegisterEngine engine{
    "paired", DeviceKind::host,
    [](Runtime& runtime, std::span<const Shard> shards, const Partition& world) -> std::unique_ptr<Communicator> {
      return std::make_unique<PairedCommunicator>(runtime, shards, world);
    }};

class PairedReduce final : public Reduce {
 public:
  void sum(std::span<double> values) override { add("sum of double", values); }
  void sum(std::span<long double> values) override { add("sum of long double", values); }
  void sum(std::span<std::int64_t> values) override { add("sum of i64", values); }
  void max(std::span<double> values) override {
    combine("max of double", values, [](double a, double b) { return std::max(a, b); });
  }
  bool agree(std::uint64_t value) override {
    struct {
      std::uint64_t value;
      bool same;
    } mine{value, true};
    using Mine = decltype(mine);
    rendezvous().join("agree", &mine, [](std::span<void* const> all) {
      bool same = true;
      for (void* one : all) same = same && static_cast<Mine*>(one)->value == static_cast<Mine*>(all.front())->value;
      for (void* one : all) static_cast<Mine*>(one)->same = same;
    });
    return mine.same;
  }

 private:
  template <class T>
  static void add(const std::string& what, std::span<T> values) {
    combine(what, values, [](T a, T b) { return a + b; });
  }
  template <class T, class Two>
  static void combine(const std::string& what, std::span<T> values, const Two& two) {
    rendezvous().join(what + " [" + std::to_string(values.size()) + "]", &values, [&two](std::span<void* const> all) {
      const auto of = [](void* one) { return *static_cast<std::span<T>*>(one); };
      for (std::size_t i = 0; i < of(all.front()).size(); ++i) {
        T result = of(all.front())[i];
        for (void* one : all.subspan(1)) result = two(result, of(one)[i]);
        for (void* one : all) of(one)[i] = result;
      }
    });
  }
};

}  // namespace

void on_ranks(int ranks, std::int64_t rows, const std::function<void(Rank&)>& body, int devices, std::int64_t batch) {
  const std::vector<Device> all = runtime().devices(DeviceKind::host, ranks * devices);
  for (const Device& device : all)  // the runtime makes queues for one thread at a time, and these run in turn
    for (int queue = 0; queue < Communicator::queue_count; ++queue) static_cast<void>(runtime().queue(device, queue));
  rendezvous().begin(ranks);
  std::vector<std::thread> threads;
  for (int number = 0; number < ranks; ++number)
    threads.emplace_back([&, number] {
      omp_set_dynamic(0);  // as the main thread's regions
      omp_set_num_threads(runtime().host_threads());
      rendezvous().run(number, [&] {
        Rank rank{.number = number, .world = partition(rows, devices, number, ranks, batch)};
        rank.shards = local_shards(rank.world, std::span(all).subspan(static_cast<std::size_t>(number * devices),
                                                                      static_cast<std::size_t>(devices)));
        rank.communicator = make_communicator(runtime(), rank.shards, rank.world, "paired");
        rank.reduce = std::make_unique<PairedReduce>();
        body(rank);
      });
    });
  for (std::thread& thread : threads) thread.join();
  rendezvous().rethrow();
}

}  // namespace league::tests
