// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/cluster_tile_cuda.hpp"
#include "algorithms/blocks/pieces_cuda.hpp"
#include "algorithms/distance_matrix/common/units.hpp"

// A cluster of two blocks takes a tile of 256 x 256 at a time, a warpgroup 64 rows of it; one producer thread per block
// copies operands ahead (blocks/cluster_tile). `wgmma_symmetric` skips the tiles below the diagonal and stores the
// others twice.
namespace league::distance_matrix {
namespace {

using Unit = blocks::mma::Split<blocks::mma::Warpgroup<blocks::mma::Element::f16>>;
using Tile = blocks::ClusterTile<Unit, 2>;

template <bool mirror>
__global__ void __cluster_dims__(Tile::blocks, 1, 1) __launch_bounds__(Tile::threads, 1)
    cluster_tiles(const UnitWork<float, Unit> work, const blocks::ClusterPlan plan) {
  extern __shared__ __align__(128) char scratch[];
  const blocks::ClusterStages<Tile> stages(scratch, plan);
  stages.init();
  const int thread = static_cast<int>(threadIdx.x);
  const auto for_tiles = [&](const auto& body) {
    for (unsigned item = blockIdx.x / Tile::blocks; item < work.tiles.items; item += gridDim.x / Tile::blocks)
      body(work.template corner<mirror, Tile>(item));
  };
  if (thread >= Tile::consumers) {
    blocks::give_registers<Tile>();
    blocks::ClusterCopies<Tile> copies(stages);
    if (thread == Tile::consumers)
      for_tiles(
          [&](const Corner& corner) { copies.copy(work.pieces_of(corner.row), work.pieces_of(corner.column), 1); });
  } else {
    blocks::take_registers<Tile>();
    blocks::ClusterProducts<Tile> products(stages);
    float sums[Unit::sums];
    for_tiles([&](const Corner& corner) {
      products.next(sums);
      using Values = blocks::ClusterValues<Tile>;
      blocks::unrolled<Values::parts>(
          [&](int part) { store_values<mirror>(work, thread, corner, Values{sums, part}); });
    });
  }
  __syncwarp();
  blocks::cluster::barrier();  // others may still arrive at this block's barriers
}

template <bool mirror>
class Wgmma final : public DistanceShard {
 public:
  Wgmma(const DistanceMatrix& problem, const Context& context, const Shard& shard)
      : DistanceShard(problem, context, shard), memory_(*this) {}
  Launch configure(Launch launch) override {
    const cudaDeviceProp device = blocks::hopper_properties(queue());
    plan_ =
        blocks::ClusterPlan::of<Tile>(memory_.pieces.steps / Tile::pieces, static_cast<int>(cuda::max_scratch(device)));
    cuda::check(cuda::allow_scratch(reinterpret_cast<const void*>(cluster_tiles<mirror>), plan_.bytes));
    if (launch.league == 0) {
      const auto items = static_cast<int>(memory_.work({0, block_rows()}).tiles.items);
      launch.league = Tile::blocks * std::min(device.multiProcessorCount / Tile::blocks, items);
    }
    blocks::require_whole_clusters<Tile>(launch.league);
    return launch_ = memory_.configure(launch, cuda::limits, block_rows());
  }

 private:
  void block(Stages& stages, Range range) override {
    const cudaStream_t stream = cuda::stream(queue());
    if (range.begin == rows().begin)
      stages.stage(queue(), "pack",
                   [&] { blocks::pack_all(stream, memory_.rows(), memory_.pieces, memory_.packed.data()); });
    stages.stage(queue(), "distance", [&] {
      cluster_tiles<mirror><<<launch_.league, launch_.team, plan_.bytes, stream>>>(memory_.work(range), plan_);
      cuda::check_launch();
    });
  }
  Launch launch_;
  blocks::ClusterPlan plan_{};
  UnitMemory<float, Tile, mirror, cuda::Array> memory_;
};

template <bool mirror>
std::unique_ptr<IndependentShard> of_floats(const DistanceMatrix& problem, const Context& context, const Shard& shard) {
  return std::make_unique<Wgmma<mirror>>(problem, context, shard);
}

using Registered = RegisterSplit<DistanceMatrix>;
const Registered whole{"wgmma", cuda::model, of_floats<false>};
const Registered symmetric{"wgmma_symmetric", cuda::model, of_floats<true>};

}  // namespace
}  // namespace league::distance_matrix
