// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/drivers/step_loop.hpp"
#include "algorithms/overheads/rounds.hpp"

namespace league::overheads {
namespace {

class Rounds final : public VariantShards<RoundShard> {
 public:
  Rounds(const Overheads& problem, const Context& context, Loop loop, Clock clock, const MakeShard& make)
      : VariantShards(context, make),
        repeats_(problem.repeats),
        fenced_(loop == Loop::fenced),
        host_clock_(clock == Clock::host),
        loop_(context, loop == Loop::kernel ? 1 : problem.repeats, [this](Stages&, int /*phase*/) { take(); }) {}

  Launch configure(Launch launch) override {
    const Launch effective = VariantShards::configure(launch);
    if (context().dry) return effective;
    fence();  // what `configure` has queued is not part of a graph
    loop_.configure();
    return effective;
  }
  [[nodiscard]] Timing timing() const override { return {.host_clock = host_clock_, .repeats = repeats_}; }
  void compute(Stages& stages) override {
    loop_.run(stages);
    for (const auto& shard : shards())
      if (shard->rows().size() > 0) shard->finish();
  }

 private:
  void take() {
    for (const auto& shard : shards()) {
      if (shard->rows().size() == 0) continue;
      shard->take();
      if (fenced_) shard->fence();
    }
  }

  const int repeats_;
  const bool fenced_, host_clock_;
  StepLoop loop_;
};

}  // namespace

std::unique_ptr<Prepared> rounds(const Overheads& problem, const Context& context, Loop loop, Clock clock,
                                 const MakeShard& make) {
  return std::make_unique<Rounds>(problem, context, loop, clock, make);
}

}  // namespace league::overheads
