// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/group_cuda.hpp"
#include "algorithms/blocks/pack_cuda.hpp"
#include "algorithms/blocks/product_tile_cuda.hpp"
#include "algorithms/distance_matrix/common/tiles.hpp"

// A block takes a tile of rows x columns at a time; a thread keeps a square of sums in registers, while both operands
// come through shared memory (blocks/product_tile). `tiled` adds squared differences; `symmetric` does so above the
// diagonal and stores twice; `product` adds products, with the norms in the epilogue.
namespace league::distance_matrix {
namespace {

template <class T, int team, class Term, bool mirror>
__global__ void __launch_bounds__(team, cuda::launch_bound(512 / team)) tile_kernel(const Tiles<T> tiles) {
  using Shape = blocks::TileFor<T, team>;
  alignas(16) __shared__ T scratch[2 * Shape::buffer];
  const auto store = [](blocks::Pack<T>* to, const blocks::Pack<T>& value) { blocks::store_streaming(to, value); };
  const auto block = blocks::block_group();
  for (unsigned item = blockIdx.x; item < tiles.items; item += gridDim.x) {
    const int row = tiles.row(item, Shape::rows), column = tiles.column(item, Shape::columns);
    if (mirror && column < row) continue;
    T sum[Shape::thread_rows][Shape::thread_columns];
    blocks::product_tile<Shape, blocks::PlainElement<T>, Term>(block, tiles.packed + tiles.panels.first(row),
                                                               tiles.packed + tiles.panels.first(column),
                                                               tiles.panels.depth, scratch, sum);
    store_tile<Shape, Term>(tiles, block.rank, row, column, sum, mirror && column >= row + Shape::rows, store);
  }
}

template <class T, Kind kind>
class Tiled final : public DistanceShard {
 public:
  Tiled(const DistanceMatrix& problem, const Context& context, const Shard& shard)
      : DistanceShard(problem, context, shard), memory_(*this) {}
  Launch configure(Launch launch) override {
    launch_ = resolve(launch, {0, memory_.default_team(block_rows()), 1}, cuda::limits);
    if (lanes() != 256 && lanes() != 128 && lanes() != 64)
      throw Unsupported("team size x vector length " + std::to_string(lanes()) + ": the tile takes 64, 128 or 256");
    if (launch_.league == 0) launch_.league = league_of(memory_.tiles({0, block_rows()}, lanes()).items);
    return launch_;
  }

 private:
  [[nodiscard]] int lanes() const { return launch_.team * launch_.vector; }
  void block(Stages& stages, Range range) override {
    const cudaStream_t stream = cuda::stream(queue());
    if (range.begin == rows().begin)
      stages.stage(queue(), "pack", [&] {
        blocks::pack<blocks::PlainElement<T>>(stream, memory_.points.data(), problem().n, problem().dimension,
                                              memory_.packed.data(), memory_.norms.data());
      });
    stages.stage(queue(), "distance", [&] {
      const auto league = static_cast<unsigned>(launch_.league);
      const dim3 threads(static_cast<unsigned>(launch_.vector), static_cast<unsigned>(launch_.team));
      const Tiles<T> tiles = memory_.tiles(range, lanes());
      with_team(lanes(), [&]<int team>() {
        tile_kernel<T, team, TermOf<kind>, kind == Kind::symmetric><<<league, threads, 0, stream>>>(tiles);
      });
      cuda::check_launch();
    });
  }
  Launch launch_;
  TileMemory<T, kind, cuda::Array> memory_;
};

using Registered = RegisterSplit<DistanceMatrix>;
const Registered tiled{"tiled", cuda::model, by_type<Tiled, Kind::tiled>};
const Registered symmetric{"symmetric", cuda::model, by_type<Tiled, Kind::symmetric>};
const Registered product{"product", cuda::model, by_type<Tiled, Kind::product>};

}  // namespace
}  // namespace league::distance_matrix
