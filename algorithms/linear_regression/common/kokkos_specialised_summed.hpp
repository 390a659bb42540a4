// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/league_barrier_kokkos.hpp"
#include "algorithms/blocks/shard_sums.hpp"
#include "algorithms/blocks/sums_kokkos.hpp"
#include "algorithms/linear_regression/common/kokkos_specialised.hpp"

// A team takes runs of rows, a lane packs of 16 bytes of each column, all loads of a run first. On a host a thread
// takes one block of consecutive rows, a vector of them at a time.
namespace league::kokkos::linear_regression::specialised {
enum class Combine { atomic, last_team };

/// Adds the sums of a shard's rows. The last team adds those of all teams in order, and those of all shards, and takes
/// the step.
template <class T, int width, Combine combine, class Shards>
struct Accumulate {
  Columns<T> data;
  int lanes, values;  ///< of a team
  Rule rule;
  State state;
  Shards shards;
  double *partials, *sums;
  unsigned* ticket;

  KOKKOS_FUNCTION void operator()(const Member& member) const {
    const Line<T, width> line = line_of<T, width>(state.theta, data.features);
    const std::int64_t step = *state.taken;
    if (step >= rule.steps) return;
    const Scratch scratch(member.team_scratch(0), static_cast<std::size_t>(values));
    const auto team = blocks::team_group(member, lanes);
    const auto mine = sums_of(data, line, {member.league_rank(), member.league_size(), team.rank, lanes}, step);
    const auto of_team = blocks::sums_for_all(team, mine, scratch.data());
    if constexpr (combine == Combine::atomic) {
      if (team.rank == 0)
        for (int i = 0; i < terms<width>; ++i) Kokkos::atomic_add(sums + i, of_team.values[i]);
    } else {
      if (!blocks::league_sums(member, team, of_team, partials, ticket, sums, scratch.data()) || !shards.takes_step)
        return;
      team.barrier();
      shards.add(team, terms<width>, sums, blocks::KokkosAtomics{});
      for (int i = team.rank; i < rule.features + 2; i += team.size) take_step(rule, state, sums, i);
    }
  }
};

template <class T, int width, Combine combine>
class Summed final : public SpecialisedShard {
 public:
  Summed(const LinearRegression& problem, const Context& context, const Shard& shard)
      : SpecialisedShard(problem, context, shard, width), rows_(*this, problem) {
    declare_zeroed(ticket_, "linear_regression/ticket", 1);
  }
  Launch configure(Launch launch) override {
    constexpr int rows_per_lane = pack_bytes<width> / static_cast<int>(sizeof(T));
    launch_ = resolved(launch, 256, max_lanes<width>, rows_per_lane, device_share<width>);
    values_ = blocks::team_sums_size<terms<width>>(launch_.team * launch_.vector);
    require_scratch(launch_, values_);
    if (combine == Combine::last_team)
      declare(partials_, "linear_regression/partials", std::int64_t{launch_.league} * terms<width>);
    return launch_;
  }
  void accumulate() const override {
    const auto launch = [this]<class Shards>(const Shards& shards) {
      const Accumulate<T, width, combine, Shards> kernel{
          rows_.here(),  launch_.team * launch_.vector, values_, rule_, state(), shards, partials_.data(), sums_.data(),
          ticket_.data()};
      submit(queue(), "linear_regression/accumulate",
             policy_of<max_lanes<width>, teams_at_once<width>>(exec_, launch_, scratch_bytes(values_)), kernel);
    };
    if constexpr (combine == Combine::last_team)
      blocks::with_shards(shards_, launch);
    else
      launch(blocks::OwnSums{});
  }
  void update() const override {
    if (combine == Combine::atomic || !shards_.takes_step) SpecialisedShard::update();
  }
  [[nodiscard]] bool can_connect() const override { return combine == Combine::last_team; }
  void connect(const DeviceView& view) override { shards_ = {true, view}; }

 private:
  DeviceRows<T> rows_;
  Launch launch_;
  blocks::ShardSums shards_{is_alone()};
  int values_ = 0;  ///< of scratch memory
  Array<double> partials_;
  Array<unsigned> ticket_;
};

}  // namespace league::kokkos::linear_regression::specialised
