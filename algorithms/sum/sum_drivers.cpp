// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/sum/common/transfers.hpp"

namespace league::sum {
namespace {

class Gathered final : public VariantShards<SumShard> {
 public:
  using VariantShards::VariantShards;

  void compute(Stages& stages) override {
    std::vector<Buffer> pieces;
    for (const auto& shard : shards()) {
      const auto stage = stages.scope(shard->queue(), "partial sums");
      shard->accumulate();
      pieces.push_back(shard->partials());
    }
    SumShard& first = *shards().front();
    if (!first.is_whole()) {
      if (!context().world.alone()) {
        const auto stage = stages.scope(first.queue(), "gather");
        context().communicator.gather(pieces, first.is_first() ? first.gathered() : Buffer{});
      }
      if (first.is_first()) {
        const auto stage = stages.scope(first.queue(), "finish");
        first.finish();
      }
    }
    if (context().world.local < static_cast<int>(context().world.rows.size())) tell_all();
  }

 private:
  /// Broadcasts the sum: other processes have no shard 0 to download it from.
  void tell_all() {
    std::vector<Buffer> sums;
    for (const auto& shard : shards()) sums.push_back(shard->sum());
    context().communicator.broadcast(sums);
  }
};

template <class T>
void add_in_order(const HostArray& partials, HostArray& sum) {
  for (const T partial : partials.values<const T>()) sum.values<T>()[0] += partial;
}

class Transferred final : public VariantShards<TransferShard> {
 public:
  Transferred(const Context& context, Ordering ordering,
              const std::function<std::unique_ptr<TransferShard>(const Shard&)>& make)
      : VariantShards(context, make), ordering_(ordering) {
    require_one_process(context.world, "none: the host adds the partial sums of its own devices");
  }

  void compute(Stages& stages) override {
    for (const auto& shard : shards()) {
      copy_in(stages, *shard);
      if (ordering_ == Ordering::interleaved) add_and_copy_out(stages, *shard);
      if (ordering_ == Ordering::two_phase_sync) shard->fence();
    }
    if (ordering_ == Ordering::interleaved) return;
    for (const auto& shard : shards()) add_and_copy_out(stages, *shard);
  }

  void download() override {
    fence();
    HostArray& sum = context().outputs.at(0).values;
    std::ranges::fill(sum.bytes(), std::byte{0});
    for (const auto& shard : shards())
      if (sum.dtype() == Dtype::i64)
        add_in_order<std::int64_t>(shard->partials(), sum);
      else
        add_in_order<double>(shard->partials(), sum);
  }

 private:
  static void copy_in(Stages& stages, TransferShard& shard) {
    if (shard.rows().size() == 0) return;
    const auto stage = stages.scope(shard.queue(), "copy in");
    shard.copy_in();
  }
  static void add_and_copy_out(Stages& stages, TransferShard& shard) {
    if (shard.rows().size() == 0) return;
    stages.stage(shard.queue(), "sum", [&] { shard.add(); });
    stages.stage(shard.queue(), "copy out", [&] { shard.copy_out(); });
  }
  Ordering ordering_;
};

}  // namespace

std::unique_ptr<Prepared> gathered(const Context& context,
                                   const std::function<std::unique_ptr<SumShard>(const Shard&)>& make) {
  return std::make_unique<Gathered>(context, make);
}

std::unique_ptr<Prepared> transferred(const Context& context, Ordering ordering,
                                      const std::function<std::unique_ptr<TransferShard>(const Shard&)>& make) {
  return std::make_unique<Transferred>(context, ordering, make);
}

}  // namespace league::sum
