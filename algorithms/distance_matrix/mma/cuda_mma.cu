// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/copies_native.hpp"
#include "algorithms/blocks/mma_native.hpp"
#include "algorithms/blocks/pieces_cuda.hpp"
#include "algorithms/distance_matrix/common/units.hpp"

// A block takes a tile of rows x columns at a time; a warp some products [16 x 16], whose operands come through shared
// memory (blocks/unit_tile). `mma_symmetric` skips the tiles below the diagonal and stores the others twice.
namespace league::distance_matrix {
namespace {

template <bool mirror, class T, class Unit>
__global__ void __launch_bounds__(TileOfUnits<Unit>::threads, cuda::launch_bound(teams<Unit>))
    tile_kernel(const UnitWork<T, Unit> work) {
  using Tile = TileOfUnits<Unit>;
  using Word = typename Unit::Word;
  alignas(16) __shared__ Word scratch[Tile::scratch_bytes / sizeof(Word)];
  const auto group = blocks::block_group();
  const Tiles<T>& tiles = work.tiles;
  for (unsigned item = blockIdx.x; item < tiles.items; item += gridDim.x) {
    const Corner corner = work.template corner<mirror, Tile>(item);
    group.barrier();  // scratch may be overwritten
    blocks::Pipeline<Tile, blocks::NativeCopies, decltype(group)> pipeline(
        group, scratch, work.pieces_of(corner.row), work.pieces_of(corner.column), work.pieces.steps, 1);
    blocks::TileSums<Tile> sums;
    pipeline.next(sums);
    blocks::TileValues<Tile> values(sums);
    store_values<mirror>(work, group.rank, corner, values);
  }
}

template <class T, class Unit, bool mirror>
class Mma final : public DistanceShard {
 public:
  Mma(const DistanceMatrix& problem, const Context& context, const Shard& shard)
      : DistanceShard(problem, context, shard), memory_(*this) {}
  Launch configure(Launch launch) override { return launch_ = memory_.configure(launch, cuda::limits, block_rows()); }

 private:
  void block(Stages& stages, Range range) override {
    const cudaStream_t stream = cuda::stream(queue());
    if (range.begin == rows().begin)
      stages.stage(queue(), "pack",
                   [&] { blocks::pack_all(stream, memory_.rows(), memory_.pieces, memory_.packed.data()); });
    stages.stage(queue(), "distance", [&] {
      tile_kernel<mirror><<<launch_.league, launch_.team, 0, stream>>>(memory_.work(range));
      cuda::check_launch();
    });
  }
  Launch launch_;
  UnitMemory<T, TileOfUnits<Unit>, mirror, cuda::Array> memory_;
};

using Registered = RegisterSplit<DistanceMatrix>;
const Registered mma_variant{"mma", cuda::model, by_unit<blocks::mma::NativeOfTiles, Mma, false>};
const Registered mma_symmetric{"mma_symmetric", cuda::model, by_unit<blocks::mma::NativeOfTiles, Mma, true>};

}  // namespace
}  // namespace league::distance_matrix
