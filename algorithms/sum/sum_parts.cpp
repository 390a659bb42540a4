// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/sum/parts.hpp"

namespace league::sum {
namespace {

class Gathered final : public ShardParts<SumPart> {
 public:
  Gathered(const Sum& problem, const Context& context,
           const std::function<std::unique_ptr<SumPart>(const Shard&)>& make)
      : ShardParts(problem, context, make), communicator_(context.communicator) {}

  void compute(Stages& stages) override {
    std::vector<std::span<const std::byte>> pieces;
    for (const auto& part : parts()) {
      stages.stage(part->queue(), "partial sums", [&] { part->accumulate(); });
      pieces.push_back(part->partials());
    }
    SumPart& first = *parts().front();
    if (first.is_whole()) return;
    if (parts().size() > 1)
      stages.stage(first.queue(), "gather", [&] { communicator_.gather(pieces, first.gathered()); });
    stages.stage(first.queue(), "finish", [&] { first.finish(); });
  }

 private:
  Communicator& communicator_;
};

template <class T>
void add_in_order(const HostArray& partials, const HostArray& sum) {
  for (const T partial : partials.values<const T>()) sum.values<T>()[0] += partial;
}

class Transferred final : public ShardParts<TransferPart> {
 public:
  Transferred(const Sum& problem, const Context& context, Ordering ordering,
              const std::function<std::unique_ptr<TransferPart>(const Shard&)>& make)
      : ShardParts(problem, context, make), ordering_(ordering) {}

  void compute(Stages& stages) override {
    for (const auto& part : parts()) {
      copy_in(stages, *part);
      if (ordering_ == Ordering::interleaved) add_and_copy_out(stages, *part);
      if (ordering_ == Ordering::two_phase_sync) part->fence();
    }
    if (ordering_ == Ordering::interleaved) return;
    for (const auto& part : parts()) add_and_copy_out(stages, *part);
  }

  const Outputs& download() override {
    const Outputs& outputs = ShardParts::download();
    fence();
    const HostArray& sum = outputs.at(0).values;
    std::ranges::fill(sum.bytes(), std::byte{0});
    for (const auto& part : parts())
      if (sum.dtype() == Dtype::i64)
        add_in_order<std::int64_t>(part->partials(), sum);
      else
        add_in_order<double>(part->partials(), sum);
    return outputs;
  }

 private:
  static void copy_in(Stages& stages, TransferPart& part) {
    if (part.rows().size() > 0) stages.stage(part.queue(), "copy in", [&] { part.copy_in(); });
  }
  static void add_and_copy_out(Stages& stages, TransferPart& part) {
    if (part.rows().size() == 0) return;
    stages.stage(part.queue(), "sum", [&] { part.add(); });
    stages.stage(part.queue(), "copy out", [&] { part.copy_out(); });
  }
  Ordering ordering_;
};

}  // namespace

std::unique_ptr<Prepared> gathered(const Sum& problem, const Context& context,
                                   const std::function<std::unique_ptr<SumPart>(const Shard&)>& make) {
  return std::make_unique<Gathered>(problem, context, make);
}

std::unique_ptr<Prepared> transferred(const Sum& problem, const Context& context, Ordering ordering,
                                      const std::function<std::unique_ptr<TransferPart>(const Shard&)>& make) {
  return std::make_unique<Transferred>(problem, context, ordering, make);
}

}  // namespace league::sum
