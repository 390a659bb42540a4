// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/group_native_kokkos.hpp"
#include "algorithms/distance_matrix/split_k/pairs.hpp"

// A team takes a tile of pairs at a time; its threads and lanes share the coordinates, and add their sums through
// scratch. On a host a team is one thread.
namespace league::distance_matrix::kokkos_model {
namespace {

using kokkos::Exec, kokkos::Member;

constexpr int max_split_threads = 256;

template <class T, int edge>
void split_k(const Exec& exec, Launch launch, std::size_t bytes, const PairTiles<T>& tiles) {
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::IndexType<std::int64_t>, Kokkos::LaunchBounds<max_split_threads, 1>>;
  const auto policy =
      Policy(exec, launch.league, launch.team, launch.vector).set_scratch_size(0, Kokkos::PerTeam(bytes + 16));
  const int threads = launch.team * launch.vector;
  Kokkos::parallel_for(
      "distance_matrix/split_k", policy, KOKKOS_LAMBDA(const Member& team) {
        const auto group = blocks::NativeThreads::of(team, threads);
        auto* scratch = kokkos::aligned_scratch<T>(team, bytes);
        for (unsigned item = static_cast<unsigned>(team.league_rank()); item < tiles.items;
             item += static_cast<unsigned>(team.league_size()))
          split_tile<edge>(tiles, item, group, scratch);
      });
}

template <class T>
class SplitK final : public DistanceShard {
 public:
  SplitK(const DistanceMatrix& problem, const Context& context, const Shard& shard)
      : DistanceShard(problem, context, shard), exec_(kokkos::instance(runtime(), queue())), memory_(*this) {}
  Launch configure(Launch launch) override {
    LaunchLimits limits = kokkos::limits(queue());
    limits.team_times_vector = std::min(limits.team_times_vector, max_split_threads);
    launch_ = memory_.configure(launch, limits, kokkos::on_gpu, block_rows());
    if (kokkos::on_gpu && launch.league == 0)  // a team costs more to start than a tile of few coordinates takes
      launch_.league = std::min(launch_.league, 32 * multiprocessors(*this));
    kokkos::require_scratch(memory_.scratch_bytes(launch_) + 16, "the sums of this team");
    return launch_;
  }

 private:
  void block(Stages& stages, Range range) override {
    const PairTiles<T> tiles = memory_.tiles(range, launch_);
    stages.stage(queue(), "distance", [&] {
      with_edge(launch_, [&]<int edge>() { split_k<T, edge>(exec_, launch_, memory_.scratch_bytes(launch_), tiles); });
    });
  }
  const Exec& exec_;
  Launch launch_;
  SplitMemory<T, kokkos::Array> memory_;
};

const RegisterSplit<DistanceMatrix> split_k_variant{"split_k", several_bodies(kokkos::specialised_model, true),
                                                    by_type<SplitK>};

}  // namespace
}  // namespace league::distance_matrix::kokkos_model
