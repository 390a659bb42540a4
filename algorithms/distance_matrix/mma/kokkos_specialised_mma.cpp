// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/copies_native.hpp"
#include "algorithms/blocks/group_native_kokkos.hpp"
#include "algorithms/blocks/mma_native.hpp"
#include "algorithms/blocks/pieces_native_kokkos.hpp"
#include "algorithms/distance_matrix/common/units.hpp"

// A team takes a tile of rows x columns at a time; a subgroup some products [16 x 16], whose operands come through team
// scratch (blocks/unit_tile). `mma_symmetric` skips the tiles below the diagonal and stores the others twice.
namespace league::distance_matrix {
namespace {

using kokkos::Exec;

template <bool mirror, class T, class Unit>
void tile_kernel(const Exec& exec, Launch launch, const UnitWork<T, Unit>& work) {
  using Tile = TileOfUnits<Unit>;
  using Policy =
      Kokkos::TeamPolicy<Exec, Kokkos::IndexType<std::int64_t>, Kokkos::LaunchBounds<Tile::threads, teams<Unit>>>;
  using Member = typename Policy::member_type;
  Policy policy(exec, launch.league, launch.team, 1);
  policy.set_scratch_size(0, Kokkos::PerTeam(Tile::scratch_bytes + 16));
  Kokkos::parallel_for(
      "distance_matrix/mma", policy, KOKKOS_LAMBDA(const Member& team) {
        const auto group = blocks::native_threads_of<Tile::threads>(team);
        void* scratch = kokkos::aligned_scratch<void>(team, static_cast<std::size_t>(Tile::scratch_bytes));
        const Tiles<T>& tiles = work.tiles;
        for (unsigned item = static_cast<unsigned>(team.league_rank()); item < tiles.items;
             item += static_cast<unsigned>(team.league_size())) {
          const Corner corner = work.template corner<mirror, Tile>(item);
          group.barrier();  // scratch may be overwritten
          blocks::Pipeline<Tile, blocks::NativeCopies, decltype(group)> pipeline(
              group, static_cast<typename Unit::Word*>(scratch), work.pieces_of(corner.row),
              work.pieces_of(corner.column), work.pieces.steps, 1);
          blocks::TileSums<Tile> sums;
          pipeline.next(sums);
          blocks::TileValues<Tile> values(sums);
          store_values<mirror>(work, group.rank, corner, values);
        }
      });
}

template <class T, class Unit, bool mirror>
class Mma final : public DistanceShard {
 public:
  Mma(const DistanceMatrix& problem, const Context& context, const Shard& shard)
      : DistanceShard(problem, context, shard), exec_(kokkos::instance(runtime(), queue())), memory_(*this) {}
  Launch configure(Launch launch) override {
    kokkos::require_scratch(TileOfUnits<Unit>::scratch_bytes + 16, "the tile of this kernel");
    return launch_ = memory_.configure(launch, kokkos::limits(queue()), block_rows());
  }

 private:
  void block(Stages& stages, Range range) override {
    if (range.begin == rows().begin)
      stages.stage(queue(), "pack",
                   [&] { blocks::pack_all(exec_, memory_.rows(), memory_.pieces, memory_.packed.data()); });
    stages.stage(queue(), "distance", [&] { tile_kernel<mirror>(exec_, launch_, memory_.work(range)); });
  }
  const Exec& exec_;
  Launch launch_;
  UnitMemory<T, TileOfUnits<Unit>, mirror, kokkos::Array> memory_;
};

using Registered = RegisterSplit<DistanceMatrix>;
const Registered mma_variant{"mma", kokkos::specialised_model, by_unit<blocks::mma::NativeOfTiles, Mma, false>};
const Registered mma_symmetric{"mma_symmetric", kokkos::specialised_model,
                               by_unit<blocks::mma::NativeOfTiles, Mma, true>};

}  // namespace
}  // namespace league::distance_matrix
