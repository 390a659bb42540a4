// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/group_kokkos.hpp"
#include "algorithms/blocks/items_kokkos.hpp"
#include "algorithms/distance_matrix/ladder/kernel.hpp"

// The lower rungs of the ladder, from the first kernel that works to the one before `tiled`. Which pair a lane takes,
// and what it reads, is in ladder.hpp. On a host a team is one thread.
namespace league::distance_matrix {
namespace {

using kokkos::Exec, kokkos::Member, kokkos::Team;

// A lane takes one pair after another.
template <class Take, class T>
void take_pairs(const Exec& exec, Launch launch, const Pairs<T> pairs) {
  blocks::for_items(
      "distance_matrix/pairs", exec, launch, pairs.count(),
      KOKKOS_LAMBDA(std::int64_t pair) { Take::take(pairs, pair); });
}

// A lane takes one coordinate of one point after another.
template <class Take, class T>
void transpose(const Exec& exec, Launch launch, const Pairs<T> pairs) {
  blocks::for_items(
      "distance_matrix/transpose", exec, launch, pairs.n * pairs.dimension,
      KOKKOS_LAMBDA(std::int64_t at) { Take::transpose(pairs, at); });
}

// A team takes a tile of pairs at a time, a lane one of these.
template <class T>
void take_tiles(const Exec& exec, Launch launch, const Pairs<T> pairs, blocks::PairTile tile) {
  const std::size_t bytes = tile.scratch() * sizeof(T);
  const auto policy = Team(exec, launch.league, launch.team, launch.vector).set_scratch_size(0, Kokkos::PerTeam(bytes));
  Kokkos::parallel_for(
      "distance_matrix/scratch_tile", policy, KOKKOS_LAMBDA(const Member& team) {
        auto* scratch = static_cast<T*>(team.team_scratch(0).get_shmem(bytes));
        const auto group = blocks::team_group(team, tile.high * tile.wide);
        for (std::int64_t item = team.league_rank(); item < tile.count(pairs.rows, pairs.n); item += team.league_size())
          take_tile(pairs, tile, item, group, scratch);
      });
}

template <class T, class Take>
class Pairwise final : public DistanceShard {
 public:
  Pairwise(const DistanceMatrix& problem, const Context& context, const Shard& shard)
      : DistanceShard(problem, context, shard),
        exec_(kokkos::instance(runtime(), queue())),
        memory_(*this, Take::transposed) {}
  Launch configure(Launch launch) override {
    const int team = kokkos::on_gpu ? std::min(Take::max_team, 256) : 1;
    return launch_ = blocks::launch_for_items(launch, limits_of<Take>(blocks::naive_limits(queue())), team,
                                              block_rows() * problem().n);
  }

 private:
  void block(Stages& stages, Range range) override {
    const Pairs<T> pairs = memory_.pairs(range);
    if constexpr (Take::transposed)
      if (range.begin == rows().begin)
        stages.stage(queue(), "transpose", [&] { transpose<Take>(exec_, launch_, pairs); });
    stages.stage(queue(), "distance", [&] { take_pairs<Take>(exec_, launch_, pairs); });
  }
  const Exec& exec_;
  Launch launch_;
  PairMemory<T, kokkos::Array> memory_;
};

template <class T>
class ScratchTile final : public DistanceShard {
 public:
  ScratchTile(const DistanceMatrix& problem, const Context& context, const Shard& shard)
      : DistanceShard(problem, context, shard), exec_(kokkos::instance(runtime(), queue())), memory_(*this, false) {}
  Launch configure(Launch launch) override {
    launch_ = blocks::launch_for_tiles<T>(launch, blocks::naive_limits(queue()), kokkos::on_gpu ? 16 : 1, block_rows(),
                                          problem().n);
    kokkos::require_scratch(tile().scratch() * sizeof(T), "the points of a tile");
    return launch_;
  }

 private:
  [[nodiscard]] blocks::PairTile tile() const { return {launch_.team, launch_.vector}; }
  void block(Stages& stages, Range range) override {
    stages.stage(queue(), "distance", [&] { take_tiles(exec_, launch_, memory_.pairs(range), tile()); });
  }
  const Exec& exec_;
  Launch launch_;
  PairMemory<T, kokkos::Array> memory_;
};

template <class Take>
std::unique_ptr<IndependentShard> pairwise(const DistanceMatrix& problem, const Context& context, const Shard& shard) {
  return with_type<float, double>(problem.dtype, [&]<class T>() -> std::unique_ptr<IndependentShard> {
    return std::make_unique<Pairwise<T, Take>>(problem, context, shard);
  });
}

const RegisterSplit<DistanceMatrix> variants[] = {{"pair_per_team", kokkos::model, pairwise<Alone>},
                                                  {"pair_per_thread", kokkos::model, pairwise<DownColumns>},
                                                  {"coalesced_stores", kokkos::model, pairwise<AlongRows>},
                                                  {"coalesced", kokkos::model, pairwise<ByCoordinate>},
                                                  {"scratch_tile", kokkos::model, by_type<ScratchTile>}};

}  // namespace
}  // namespace league::distance_matrix
