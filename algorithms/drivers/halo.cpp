// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/drivers/halo.hpp"

#include <array>

#include "algorithms/drivers/step_loop.hpp"

namespace league {
namespace {

/// Exchanges run on this queue of a shard's device, concurrently with its kernels.
constexpr int exchange_queue = 1;

class HaloSolve final : public ShardParts<HaloPart> {
 public:
  HaloSolve(const Context& context, std::int64_t steps,
            const std::function<std::unique_ptr<HaloPart>(const Shard&)>& make)
      : ShardParts(context, make),
        loop_(
            context, steps - 1,
            [this](Stages& stages, int phase) { take_step(stages, written_by(phase), written_by(phase + 1)); }, 2) {}

  Launch configure(Launch launch) override {
    const Launch effective = ShardParts::configure(launch);
    if (context().dry) return effective;
    fence();  // work submitted by `configure` must not be recorded
    for (int buffer = 0; buffer < HaloPart::buffers; ++buffer)
      transfers_[static_cast<std::size_t>(buffer)] = transfers(buffer);
    loop_.configure();
    return effective;
  }
  void upload() override {
    ShardParts::upload();
    if (!context().world.alone()) context().communicator.exchange(transfers_[0]);
  }
  void compute(Stages& stages) override {
    take_step(stages, 0, written_by(0));
    loop_.run(stages);
  }

 private:
  void take_step(Stages& stages, int from, int to) {
    if (context().world.alone()) {
      const HaloPart& part = *parts().front();
      const auto stage = stages.scope(part.queue(), "step");
      if (part.rows().size() > 0) part.advance(from, to, part.rows());
      return;
    }
    for (const auto& part : parts()) {
      const auto stage = stages.scope(part->queue(), "rim");
      const Range own = part->rows();
      if (own.size() > 0) part->advance(from, to, {own.begin, own.begin + 1});
      if (own.size() > 1) part->advance(from, to, {own.end - 1, own.end});
      beside(*part).wait_for(part->queue());
    }
    context().communicator.exchange(transfers_[static_cast<std::size_t>(to)], exchange_queue);
    for (const auto& part : parts()) {
      if (stages.traced()) {  // not overlapped, so that each stage has its own time
        const auto stage = stages.scope(part->queue(), "exchange");
        part->queue().wait_for(beside(*part));
      }
      const auto stage = stages.scope(part->queue(), "interior");
      const Range inside{part->rows().begin + 1, part->rows().end - 1};
      if (inside.size() > 0) part->advance(from, to, inside);
      part->queue().wait_for(beside(*part));
    }
  }
  [[nodiscard]] static Queue& beside(const HaloPart& part) {
    return part.runtime().queue(part.queue().device(), exchange_queue);
  }

  /// Transfers of the ghost planes of a buffer, for all local shards and their neighbours. Empty shards come last.
  [[nodiscard]] std::vector<Transfer> transfers(int buffer) const {
    const Partition& world = context().world;
    std::vector<Transfer> all;
    for (int upper = 1; upper < static_cast<int>(world.rows.size()); ++upper) {
      const int lower = upper - 1;
      if (world.rows[static_cast<std::size_t>(upper)].size() == 0) break;
      const HaloPart *below = local(lower), *above = local(upper);
      if (below == nullptr && above == nullptr) continue;
      const HaloPart::Planes known = (below != nullptr ? below : above)->planes(buffer);
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
  /// The part of a shard by its global index; null if not local.
  [[nodiscard]] const HaloPart* local(int shard) const {
    const int index = shard - context().world.first_local;
    return index >= 0 && index < static_cast<int>(parts().size()) ? parts()[static_cast<std::size_t>(index)].get()
                                                                  : nullptr;
  }
  std::array<std::vector<Transfer>, HaloPart::buffers> transfers_;
  StepLoop loop_;
};

}  // namespace

std::unique_ptr<Prepared> solve_with_halo(const Context& context, std::int64_t steps,
                                          const std::function<std::unique_ptr<HaloPart>(const Shard&)>& make) {
  return std::make_unique<HaloSolve>(context, steps, make);
}

}  // namespace league
