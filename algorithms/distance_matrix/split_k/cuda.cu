// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/group_cuda.hpp"
#include "algorithms/distance_matrix/split_k/pairs.hpp"

// A block takes a tile of pairs at a time; its threads share the coordinates, and add their sums through shared memory.
namespace league::distance_matrix {
namespace {

constexpr int max_threads = 256;

template <class T, int edge>
__global__ void __launch_bounds__(max_threads, 1) split_k(const PairTiles<T> tiles) {
  extern __shared__ double scratch[];
  const auto group = blocks::block_group();
  for (unsigned item = blockIdx.x; item < tiles.items; item += gridDim.x)
    split_tile<edge>(tiles, item, group, reinterpret_cast<T*>(scratch));
}

template <class T>
class SplitK final : public DistanceShard {
 public:
  SplitK(const DistanceMatrix& problem, const Context& context, const Shard& shard)
      : DistanceShard(problem, context, shard), memory_(*this) {}
  Launch configure(Launch launch) override {
    LaunchLimits limits = cuda::limits;
    limits.team_times_vector = max_threads;
    launch_ = memory_.configure(launch, limits, true, block_rows());
    cuda::require_scratch(cuda::properties(queue()), memory_.scratch_bytes(launch_), "the sums of this team");
    with_edge(launch_, [&]<int edge>() {
      const auto* kernel = reinterpret_cast<const void*>(split_k<T, edge>);
      cuda::check(cuda::allow_scratch(kernel, static_cast<int>(memory_.scratch_bytes(launch_))));
      cuda::check(cuda::prefer_scratch(kernel));
    });
    return launch_;
  }

 private:
  void block(Stages& stages, Range range) override {
    const auto league = static_cast<unsigned>(launch_.league);
    const dim3 team(static_cast<unsigned>(launch_.vector), static_cast<unsigned>(launch_.team));
    const cudaStream_t stream = cuda::stream(queue());
    const PairTiles<T> tiles = memory_.tiles(range, launch_);
    stages.stage(queue(), "distance", [&] {
      with_edge(launch_,
                [&]<int edge>() { split_k<T, edge><<<league, team, memory_.scratch_bytes(launch_), stream>>>(tiles); });
      cuda::check_launch();
    });
  }
  Launch launch_;
  SplitMemory<T, cuda::Array> memory_;
};

const RegisterSplit<DistanceMatrix> split_k_variant{"split_k", cuda::model, by_type<SplitK>};

}  // namespace
}  // namespace league::distance_matrix
