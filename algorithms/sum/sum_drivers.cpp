// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/sum/transfers.hpp"

namespace league::sum {
namespace {

class Gathered final : public ShardParts<SumPart> {
 public:
  using ShardParts::ShardParts;

  void compute(Stages& stages) override {
    std::vector<Buffer> pieces;
    for (const auto& part : parts()) {
      const auto stage = stages.scope(part->queue(), "partial sums");
      part->accumulate();
      pieces.push_back(part->partials());
    }
    SumPart& first = *parts().front();
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
    for (const auto& part : parts()) sums.push_back(part->sum());
    context().communicator.broadcast(sums);
  }
};

template <class T>
void add_in_order(const HostArray& partials, HostArray& sum) {
  for (const T partial : partials.values<const T>()) sum.values<T>()[0] += partial;
}

class Transferred final : public ShardParts<TransferPart> {
 public:
  Transferred(const Context& context, Ordering ordering,
              const std::function<std::unique_ptr<TransferPart>(const Shard&)>& make)
      : ShardParts(context, make), ordering_(ordering) {
    require_one_process(context.world, "none: the host adds the partial sums of its own devices");
  }

  void compute(Stages& stages) override {
    for (const auto& part : parts()) {
      copy_in(stages, *part);
      if (ordering_ == Ordering::interleaved) add_and_copy_out(stages, *part);
      if (ordering_ == Ordering::two_phase_sync) part->fence();
    }
    if (ordering_ == Ordering::interleaved) return;
    for (const auto& part : parts()) add_and_copy_out(stages, *part);
  }

  void download() override {
    fence();
    HostArray& sum = context().outputs.at(0).values;
    std::ranges::fill(sum.bytes(), std::byte{0});
    for (const auto& part : parts())
      if (sum.dtype() == Dtype::i64)
        add_in_order<std::int64_t>(part->partials(), sum);
      else
        add_in_order<double>(part->partials(), sum);
  }

 private:
  static void copy_in(Stages& stages, TransferPart& part) {
    if (part.rows().size() == 0) return;
    const auto stage = stages.scope(part.queue(), "copy in");
    part.copy_in();
  }
  static void add_and_copy_out(Stages& stages, TransferPart& part) {
    if (part.rows().size() == 0) return;
    stages.stage(part.queue(), "sum", [&] { part.add(); });
    stages.stage(part.queue(), "copy out", [&] { part.copy_out(); });
  }
  Ordering ordering_;
};

}  // namespace

std::unique_ptr<Prepared> gathered(const Context& context,
                                   const std::function<std::unique_ptr<SumPart>(const Shard&)>& make) {
  return std::make_unique<Gathered>(context, make);
}

std::unique_ptr<Prepared> transferred(const Context& context, Ordering ordering,
                                      const std::function<std::unique_ptr<TransferPart>(const Shard&)>& make) {
  return std::make_unique<Transferred>(context, ordering, make);
}

}  // namespace league::sum
