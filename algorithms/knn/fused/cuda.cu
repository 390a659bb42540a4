// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/knn/common/cuda.hpp"
#include "algorithms/knn/fused/kernel.hpp"

namespace league::knn::cuda_model {
namespace {

// A block takes a tile of queries and a chunk of training rows, tile by tile.
template <class Shape, class Packed>
__global__ void __launch_bounds__(Shape::threads, cuda::launch_bound(512 / Shape::threads))
    fused(const FusedWork<Packed> work) {
  __shared__ FusedScratch<Shape> scratch;
  take_items<Shape, ScratchAtomics>(blocks::block_group(), static_cast<int>(blockIdx.x), static_cast<int>(gridDim.x),
                                    work, scratch);
}

// A block takes 32 queries, a warp a slice of their lists.
template <class Packed>
__global__ void merge(const FusedWork<Packed> work, std::int64_t* neighbours, double* distances) {
  const std::int64_t stride = std::int64_t{gridDim.x} * merge_queries;
  for (std::int64_t first = std::int64_t{blockIdx.x} * merge_queries; first < work.queries; first += stride)
    work.merge(
        first + threadIdx.x, static_cast<int>(threadIdx.y), static_cast<int>(blockDim.y), [] { __syncthreads(); },
        neighbours, distances);
}

__global__ void fill(std::int64_t size, std::int32_t value, std::int32_t* array) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < size) array[i] = value;
}

template <class T, class Element>
class Fused final : public IndependentShard {
 public:
  Fused(const Knn& problem, const Context& context, const Shard& shard)
      : IndependentShard(context, shard), memory_(*this, problem) {}
  [[nodiscard]] bool submits_in_parallel() const override { return true; }
  Launch configure(Launch launch) override { return launch_ = memory_.configure(*this, launch, cuda::limits); }
  void compute(Stages& stages) override {
    const auto& knn = memory_.knn;
    const auto work = memory_.work(launch_.tile);
    const cudaStream_t stream = cuda::stream(queue());
    stages.stage(queue(), "pack", [&] {
      blocks::pack<Element>(stream, knn.train.data(), knn.n, knn.features, memory_.train.data(),
                            memory_.train_norms.data());
      blocks::pack<Element>(stream, knn.test.data(), knn.m, knn.features, memory_.test.data(),
                            memory_.test_norms.data());
    });
    stages.stage(queue(), "fused", [&] {
      const int threads = 128;
      fill<<<league_of(ceil_div<std::int64_t>(knn.m, threads)), threads, 0, stream>>>(knn.m, unlimited, work.threshold);
      with_tile(launch_.team,
                [&]<class Shape>() { fused<Shape><<<launch_.league, dim3(1, launch_.team), 0, stream>>>(work); });
      cuda::check_launch();
    });
    stages.stage(queue(), "merge", [&] {
      const dim3 block(merge_queries, merge_slices(knn.m, knn.k));
      merge<<<league_of(ceil_div<std::int64_t>(knn.m, block.x)), block, 0, stream>>>(work, knn.neighbours.data(),
                                                                                     knn.distances.data());
      cuda::check_launch();
    });
    stages.stage(queue(), "vote", [&] { vote_all(queue(), knn); });
  }

 private:
  Launch launch_;
  FusedMemory<T, Element, cuda::Array> memory_;
};

const RegisterSplit<Knn> fused_variant{"fused", cuda::model, by_element<Fused>};

}  // namespace
}  // namespace league::knn::cuda_model
