// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/group_cuda.hpp"
#include "algorithms/blocks/items_cuda.hpp"
#include "algorithms/distance_matrix/ladder/kernel.hpp"

// The lower rungs of the ladder, from the first kernel that works to the one before `tiled`. Which pair a thread takes,
// and what it reads, is in ladder.hpp.
namespace league::distance_matrix {
namespace {

// A thread takes one pair after another.
template <class Take, class T>
__global__ void take_pairs(const Pairs<T> pairs) {
  blocks::for_items(pairs.count(), [&](std::int64_t pair) { Take::take(pairs, pair); });
}

// A thread takes one coordinate of one point after another.
template <class Take, class T>
__global__ void transpose(const Pairs<T> pairs) {
  blocks::for_items(pairs.n * pairs.dimension, [&](std::int64_t at) { Take::transpose(pairs, at); });
}

// A block takes a tile of pairs at a time, a thread one of these.
template <class T>
__global__ void take_tiles(const Pairs<T> pairs, blocks::PairTile tile) {
  extern __shared__ double scratch[];
  for (std::int64_t item = blockIdx.x; item < tile.count(pairs.rows, pairs.n); item += gridDim.x)
    take_tile(pairs, tile, item, blocks::block_group(), reinterpret_cast<T*>(scratch));
}

template <class T, class Take>
class Pairwise final : public DistanceShard {
 public:
  Pairwise(const DistanceMatrix& problem, const Context& context, const Shard& shard)
      : DistanceShard(problem, context, shard), memory_(*this, Take::transposed) {}
  Launch configure(Launch launch) override {
    constexpr int team = std::min(Take::max_team, 256);
    return launch_ = blocks::launch_for_items(launch, limits_of<Take>(cuda::limits), team, block_rows() * problem().n);
  }

 private:
  void block(Stages& stages, Range range) override {
    const Pairs<T> pairs = memory_.pairs(range);
    const dim3 team(static_cast<unsigned>(launch_.vector), static_cast<unsigned>(launch_.team));
    const cudaStream_t stream = cuda::stream(queue());
    if constexpr (Take::transposed)
      if (range.begin == rows().begin)
        stages.stage(queue(), "transpose", [&] {
          transpose<Take><<<grid(pairs.n * pairs.dimension), team, 0, stream>>>(pairs);
          cuda::check_launch();
        });
    stages.stage(queue(), "distance", [&] {
      take_pairs<Take><<<grid(pairs.count()), team, 0, stream>>>(pairs);
      cuda::check_launch();
    });
  }
  [[nodiscard]] unsigned grid(std::int64_t items) const {
    return static_cast<unsigned>(blocks::busy_league(launch_, items));
  }
  Launch launch_;
  PairMemory<T, cuda::Array> memory_;
};

template <class T>
class ScratchTile final : public DistanceShard {
 public:
  ScratchTile(const DistanceMatrix& problem, const Context& context, const Shard& shard)
      : DistanceShard(problem, context, shard), memory_(*this, false) {}
  Launch configure(Launch launch) override {
    return launch_ = blocks::launch_for_tiles<T>(launch, cuda::limits, 16, block_rows(), problem().n);
  }

 private:
  void block(Stages& stages, Range range) override {
    const blocks::PairTile tile{launch_.team, launch_.vector};
    const dim3 team(static_cast<unsigned>(launch_.vector), static_cast<unsigned>(launch_.team));
    const cudaStream_t stream = cuda::stream(queue());
    stages.stage(queue(), "distance", [&] {
      take_tiles<<<static_cast<unsigned>(launch_.league), team, tile.scratch() * sizeof(T), stream>>>(
          memory_.pairs(range), tile);
      cuda::check_launch();
    });
  }
  Launch launch_;
  PairMemory<T, cuda::Array> memory_;
};

template <class Take>
std::unique_ptr<IndependentShard> pairwise(const DistanceMatrix& problem, const Context& context, const Shard& shard) {
  return with_type<float, double>(problem.dtype, [&]<class T>() -> std::unique_ptr<IndependentShard> {
    return std::make_unique<Pairwise<T, Take>>(problem, context, shard);
  });
}

const RegisterSplit<DistanceMatrix> variants[] = {{"pair_per_team", cuda::model, pairwise<Alone>},
                                                  {"pair_per_thread", cuda::model, pairwise<DownColumns>},
                                                  {"coalesced_stores", cuda::model, pairwise<AlongRows>},
                                                  {"coalesced", cuda::model, pairwise<ByCoordinate>},
                                                  {"scratch_tile", cuda::model, by_type<ScratchTile>}};

}  // namespace
}  // namespace league::distance_matrix
