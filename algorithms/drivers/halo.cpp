// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/drivers/halo.hpp"

#include <array>

#include "algorithms/drivers/step_loop.hpp"

namespace league {
namespace {

class HaloSolve final : public VariantShards<HaloShard> {
 public:
  HaloSolve(const Context& context, std::int64_t steps,
            const std::function<std::unique_ptr<HaloShard>(const Shard&)>& make)
      : VariantShards(context, make),
        second_queues_(second_queues()),
        loop_(
            context, steps - 1,
            [this](Stages& stages, int phase) { take_step(stages, written_by(phase), written_by(phase + 1)); }, 2) {}

  Launch configure(Launch launch) override {
    const Launch effective = VariantShards::configure(launch);
    if (context().dry) return effective;
    fence();  // work submitted by `configure` must not be recorded
    for (int buffer = 0; buffer < HaloShard::buffers; ++buffer)
      transfers_[static_cast<std::size_t>(buffer)] = transfers(buffer);
    loop_.configure();
    return effective;
  }
  void upload() override {
    VariantShards::upload();
    if (!context().world.alone()) context().communicator.exchange(transfers_[0]);
  }
  void compute(Stages& stages) override {
    take_step(stages, 0, written_by(0));
    loop_.run(stages);
  }

 private:
  void take_step(Stages& stages, int from, int to) {
    if (context().world.alone()) {
      const HaloShard& shard = *shards().front();
      const auto stage = stages.scope(shard.queue(), "step");
      if (shard.rows().size() > 0) shard.advance(from, to, shard.rows());
      return;
    }
    for (const auto& shard : shards()) {
      const auto stage = stages.scope(shard->queue(), "rim");
      const Range own = shard->rows();
      if (own.size() > 0) shard->advance(from, to, {own.begin, own.begin + 1});
      if (own.size() > 1) shard->advance(from, to, {own.end - 1, own.end});
      shard->second_queue().wait_for(shard->queue());
    }
    {
      const CommonStage stage(stages, stages.traced() ? std::span<Queue* const>() : second_queues_, "exchange");
      context().communicator.exchange(transfers_[static_cast<std::size_t>(to)], second_queue_index);
    }
    for (const auto& shard : shards()) {
      if (stages.traced()) {  // not overlapped, so that each stage has its own time
        const auto stage = stages.scope(shard->queue(), "exchange");
        shard->queue().wait_for(shard->second_queue());
      }
      const auto stage = stages.scope(shard->queue(), "interior");
      const Range inside{shard->rows().begin + 1, shard->rows().end - 1};
      if (inside.size() > 0) shard->advance(from, to, inside);
      shard->queue().wait_for(shard->second_queue());
    }
  }

  /// Transfers of the ghost planes of a buffer, for all local shards and their neighbours. Empty shards come last.
  [[nodiscard]] std::vector<Transfer> transfers(int buffer) const {
    const Partition& world = context().world;
    std::vector<Transfer> all;
    for (int upper = 1; upper < static_cast<int>(world.rows.size()); ++upper) {
      const int lower = upper - 1;
      if (world.rows[static_cast<std::size_t>(upper)].size() == 0) break;
      const HaloShard *below = local(lower), *above = local(upper);
      if (below == nullptr && above == nullptr) continue;
      const HaloShard::Planes known = (below != nullptr ? below : above)->planes(buffer);
      Transfer up{.from = lower, .to = upper, .bytes = known.plane_bytes}, down{upper, lower, {}, {}, up.bytes};
      if (below != nullptr) {
        std::byte* end = below->planes(buffer).first + below->rows().size() * known.plane_bytes;
        up.source = end - known.plane_bytes;
        down.target = end;
      }
      if (above != nullptr) {
        std::byte* first = above->planes(buffer).first;
        down.source = first;
        up.target = first - known.plane_bytes;
      }
      all.push_back(up);
      all.push_back(down);
    }
    return all;
  }
  /// The variant on a shard, by the shard's global index; null if not local.
  [[nodiscard]] const HaloShard* local(int shard) const {
    const int index = shard - context().world.first_local;
    return index >= 0 && index < static_cast<int>(shards().size()) ? shards()[static_cast<std::size_t>(index)].get()
                                                                   : nullptr;
  }
  std::array<std::vector<Transfer>, HaloShard::buffers> transfers_;
  std::vector<Queue*> second_queues_;
  StepLoop loop_;
};

}  // namespace

std::unique_ptr<Prepared> solve_with_halo(const Context& context, std::int64_t steps,
                                          const std::function<std::unique_ptr<HaloShard>(const Shard&)>& make) {
  return std::make_unique<HaloSolve>(context, steps, make);
}

}  // namespace league
