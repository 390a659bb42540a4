// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "algorithms/contract/altered.hpp"
#include "algorithms/contract/registry.hpp"
#include "algorithms/contract/with_type.hpp"
#include "algorithms/drivers/ledger.hpp"

namespace league {

/// The queue of a communicator, and of a device, for what runs beside kernels.
inline constexpr int second_queue_index = 1;

/// One variant on one shard: its memory and its kernels. The constructor declares arrays (`host::Array`, `cuda::Array`,
/// `kokkos::Array`), which the first `configure` of the case allocates; arrays declared in the shard's `configure` are
/// allocated after it.
class VariantShard {
 public:
  VariantShard(const Context& context, const Shard& shard)
      : context_(context),
        shard_(shard),
        queue_(context.runtime.queue(shard.device)),
        ledger_(context.runtime, queue_, context.memory_budget_bytes) {}
  virtual ~VariantShard() = default;
  VariantShard(const VariantShard&) = delete;
  VariantShard& operator=(const VariantShard&) = delete;

  /// As `Prepared::configure`, for this shard.
  virtual Launch configure(Launch launch) = 0;
  [[nodiscard]] virtual Timing timing() const { return {}; }
  /// Poisons the outputs; shards with more state extend it.
  virtual void reset();
  virtual void upload();
  /// Copies to the outputs of the context.
  virtual void download();
  virtual void fence() { queue_.fence(); }
  /// As `Prepared::digest`, of the results of this shard; those of shards that hold the same results count once.
  [[nodiscard]] virtual std::optional<std::uint64_t> digest();
  /// As `Prepared::alter` and `restore`: inputs that shards hold alike are changed alike.
  virtual bool alter(std::uint64_t draw);
  virtual void restore(std::uint64_t draw);
  /// As `Prepared::counts`, on this shard. The names are the same on all shards, those without rows included.
  [[nodiscard]] virtual Counts counts() { return {}; }

  [[nodiscard]] Runtime& runtime() const { return context_.runtime; }
  [[nodiscard]] Queue& queue() const { return queue_; }
  /// For what runs beside the kernels of `queue()`.
  [[nodiscard]] Queue& second_queue() const { return context_.runtime.queue(shard_.device, second_queue_index); }
  /// Global range.
  [[nodiscard]] Range rows() const { return shard_.rows; }
  /// Index of the shard in the world.
  [[nodiscard]] int index() const { return shard_.index; }
  /// Shard 0 of the world.
  [[nodiscard]] bool is_first() const { return shard_.index == 0; }
  /// There is no other shard in the world.
  [[nodiscard]] bool is_alone() const { return context_.world.alone(); }
  /// The shards of all processes.
  [[nodiscard]] const Partition& world() const { return context_.world; }
  [[nodiscard]] Ledger& ledger() { return ledger_; }
  /// The host array of result `index`.
  [[nodiscard]] Output& result(std::size_t index) const { return context_.outputs.at(index); }

  /// Uninitialised memory for `size` values.
  template <class Array>
  void declare(Array& array, const std::string& label, std::int64_t size) {
    ledger_.declare(array, label, size);
  }
  /// Zero-initialised memory.
  template <class Array>
  void declare_zeroed(Array& array, const std::string& label, std::int64_t size) {
    ledger_.declare(array, label, size, [&array] { array.clear(); });
  }
  /// Memory filled from `host` by every upload.
  template <class Array>
  void input(Array& array, const std::string& label, std::span<const typename Array::value_type> host) {
    declare(array, label, static_cast<std::int64_t>(host.size()));
    input(array, host);
  }
  /// The same for an already declared array, from element `at` on.
  template <class Array>
  void input(Array& array, std::span<const typename Array::value_type> host, std::int64_t at = 0) {
    uploads_.push_back([&array, host, at] { array.copy_from(host, at); });
    exchanges_.push_back([&array, host, at](const Altered& where, bool undo) {
      array.copy_from(host.subspan(undo ? where.to : where.from, where.count),
                      at + static_cast<std::int64_t>(where.to));
    });
    input_sizes_.push_back(host.size());
  }
  /// `array` holds this shard's rows of result `index`, from its element `offset` on; poisoned by every reset, copied
  /// out by every download.
  template <class Array>
  void output(Array& array, std::size_t index, std::int64_t offset = 0) {
    poisons_.push_back([&array] { array.poison(); });
    digests_.push_back([&array, index, offset, this] {
      return array.digest(offset, rows().size() * result(index).values.row_size());
    });
    downloads_.push_back([&array, index, offset, this] {
      Output& to = result(index);
      array.copy_to(to.values.template values<typename Array::value_type>(rows().begin - to.rows.begin,
                                                                          rows().end - to.rows.begin),
                    offset);
    });
  }
  /// `array` holds all of result `index`, replicated on every shard. The first shard of a process downloads it.
  template <class Array>
  void whole_output(Array& array, std::size_t index) {
    poisons_.push_back([&array] { array.poison(); });
    if (shard_.index != context_.world.first_local) return;
    if (context_.world.first_local == 0)
      digests_.push_back([&array, index, this] { return array.digest(0, result(index).values.size()); });
    downloads_.push_back(
        [&array, index, this] { array.copy_to(result(index).values.template values<typename Array::value_type>()); });
  }

 private:
  const Context context_;
  const Shard shard_;
  Queue& queue_;
  Ledger ledger_;
  std::vector<std::function<void()>> uploads_, poisons_, downloads_;
  std::vector<std::function<std::uint64_t()>> digests_;
  std::vector<std::function<void(const Altered&, bool undo)>> exchanges_;  ///< of each input
  std::vector<std::size_t> input_sizes_;
};

/// Number of multiprocessors of a GPU.
inline int multiprocessors(const VariantShard& shard) {
  for (const auto& [key, value] : shard.runtime().info(shard.queue().device()).facts)
    if (key == "multiprocessors") return std::stoi(value);
  return 1;
}

/// All shards of a case in this process: everything except `compute`.
template <class P>
class VariantShards : public Prepared {
 public:
  VariantShards(const Context& context, const std::function<std::unique_ptr<P>(const Shard&)>& make)
      : context_(context) {
    for (const Shard& shard : context.shards) shards_.push_back(make(shard));
  }
  Launch configure(Launch launch) override {
    Launch effective;
    for (const auto& shard : shards_) {
      const Launch its_own = shard->configure(launch);
      if (shard == shards_.front()) effective = its_own;  // the first shard is the largest
    }
    for (const auto& shard : shards_)
      if (context_.dry)
        shard->ledger().require_budget();
      else
        shard->ledger().allocate();
    return effective;
  }
  [[nodiscard]] Timing timing() const override { return shards_.front()->timing(); }
  [[nodiscard]] std::int64_t device_bytes() const override {
    std::int64_t max_bytes = 0;
    for (const auto& shard : shards_) max_bytes = std::max(max_bytes, shard->ledger().bytes());
    return max_bytes;
  }
  void upload() override {
    for (const auto& shard : shards_) shard->upload();
  }
  void reset() override {
    league::poison(context_.outputs);
    poison();
  }
  void poison() override {
    for (const auto& shard : shards_) shard->reset();
  }
  void download() override {
    for (const auto& shard : shards_) shard->download();
  }
  void fence() override {
    for (const auto& shard : shards_) shard->fence();
  }
  [[nodiscard]] std::optional<std::uint64_t> digest() override {
    std::uint64_t sum = 0;
    for (const auto& shard : shards_) {
      const auto of_shard = shard->digest();
      if (!of_shard) return {};
      sum += *of_shard;
    }
    return sum;
  }
  bool alter(std::uint64_t draw) override {
    bool altered = true;
    for (const auto& shard : shards_) altered = shard->alter(draw) && altered;
    return altered;
  }
  void restore(std::uint64_t draw) override {
    for (const auto& shard : shards_) shard->restore(draw);
  }
  [[nodiscard]] Counts counts() override {
    Counts sums;
    for (const auto& shard : shards_)
      for (const auto& [name, count] : shard->counts()) sums[name] += count;
    return sums;
  }

 protected:
  [[nodiscard]] const std::vector<std::unique_ptr<P>>& shards() const { return shards_; }
  [[nodiscard]] const Context& context() const { return context_; }
  /// Of all shards; none where a shard is alone and there is no communication.
  [[nodiscard]] std::vector<Queue*> second_queues() const {
    std::vector<Queue*> queues;
    if (context_.world.alone()) return queues;
    for (const auto& shard : shards_) queues.push_back(&shard->second_queue());
    return queues;
  }

 private:
  const Context context_;
  std::vector<std::unique_ptr<P>> shards_;
};

}  // namespace league
