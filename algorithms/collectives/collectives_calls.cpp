// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/collectives/member.hpp"
#include "algorithms/drivers/step_loop.hpp"

namespace league::collectives {
namespace {

using Operation = Collectives::Operation;

class Calls final : public VariantShards<Member> {
 public:
  Calls(const Collectives& problem, const Context& context,
        const std::function<std::unique_ptr<Member>(const Shard&)>& make)
      : VariantShards(context, make),
        problem_(problem),
        loop_(
            context, problem.repeats, [this](Stages& stages, int repeat) { call(stages, repeat); }, problem.repeats) {}

  Launch configure(Launch launch) override {
    const Launch effective = VariantShards::configure(launch);
    if (context().dry) return effective;
    fence();  // work submitted by `configure` must not be recorded
    lay_out();
    if (problem_.adds()) context().communicator.reserve(buffers_.front().front().bytes(), problem_.order);
    loop_.configure();
    return effective;
  }
  /// In-place sums overwrite their inputs.
  [[nodiscard]] Timing timing() const override { return {.reset_each = true, .repeats = problem_.repeats}; }
  void compute(Stages& stages) override { loop_.run(stages); }

 private:
  void call(Stages& stages, int repeat) {
    const CommonStage stage(stages, loop_.queues(), name(problem_.operation));
    Communicator& communicator = context().communicator;
    const auto number = static_cast<std::size_t>(repeat);
    switch (problem_.operation) {
      case Operation::all_reduce:
        return communicator.all_reduce(buffers_[number], problem_.order);
      case Operation::reduce_scatter:
        return communicator.reduce_scatter(buffers_[number], problem_.order);
      case Operation::all_gather:
        return communicator.all_gather(buffers_[number]);
      case Operation::broadcast:
        return communicator.broadcast(buffers_[number]);
      case Operation::exchange:
        return communicator.exchange(transfers_[number]);
    }
  }

  /// Builds the arguments of all calls. @pre the members are allocated
  void lay_out() {
    buffers_.clear(), transfers_.clear();
    for (int repeat = 0; repeat < problem_.repeats; ++repeat) {
      std::vector<Buffer>& all = buffers_.emplace_back();
      for (const auto& member : shards()) all.push_back(member->message(repeat));
      if (problem_.operation == Operation::exchange) transfers_.push_back(ring(repeat));
    }
  }
  /// Transfers from or to local shards, in the same order in all processes.
  [[nodiscard]] std::vector<Transfer> ring(int repeat) const {
    const Halves halves(problem_.n);
    std::vector<Transfer> all;
    const auto add = [&](int from, Range half, int to, Range place) {
      const Member *sender = local(from), *receiver = local(to);
      if (sender == nullptr && receiver == nullptr) return;
      const auto unit = static_cast<std::int64_t>(size_bytes(problem_.dtype));
      Transfer& one = all.emplace_back(Transfer{.from = from, .to = to, .bytes = half.size() * unit});
      if (sender != nullptr) one.source = byte(sender->message(repeat), half.begin * unit);
      if (receiver != nullptr) one.target = byte(receiver->received(repeat), place.begin * unit);
    };
    for (int shard = 0; shard < problem_.shards; ++shard) {
      add(shard, halves.upper, above(shard, problem_.shards), halves.from_below());
      add(shard, halves.lower, below(shard, problem_.shards), halves.from_above());
    }
    return all;
  }
  static std::byte* byte(const Buffer& buffer, std::int64_t at) { return static_cast<std::byte*>(buffer.data) + at; }
  /// The member of a shard by its global index; null if not local.
  [[nodiscard]] const Member* local(int shard) const {
    const int index = shard - context().world.first_local;
    return index >= 0 && index < static_cast<int>(shards().size()) ? shards()[static_cast<std::size_t>(index)].get()
                                                                   : nullptr;
  }

  const Collectives& problem_;
  std::vector<std::vector<Buffer>> buffers_;      ///< per repeat, one per shard
  std::vector<std::vector<Transfer>> transfers_;  ///< per repeat of an exchange
  StepLoop loop_;
};

}  // namespace

std::unique_ptr<Prepared> call(const Collectives& problem, const Context& context,
                               const std::function<std::unique_ptr<Member>(const Shard&)>& make) {
  if (context.world.alone()) throw Unsupported("a collective needs at least two devices");
  if (static_cast<int>(context.world.rows.size()) != problem.shards)
    throw std::logic_error("a problem of " + std::to_string(problem.shards) + " shards on " +
                           std::to_string(context.world.rows.size()));
  return std::make_unique<Calls>(problem, context, make);
}

}  // namespace league::collectives
