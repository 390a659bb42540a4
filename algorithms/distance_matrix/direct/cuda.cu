// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/pack_cuda.hpp"
#include "algorithms/distance_matrix/direct/strips.hpp"

// A block takes a strip of 8 rows and 16 bytes of columns per thread. A thread keeps its columns' points in registers
// and loops over the rows, one 16-byte store per row.
namespace league::distance_matrix {
namespace {

/// DIMENSION 0: any.
template <class T, int dimension>
__global__ void direct(Strips<T> strips) {
  const auto store = [](blocks::Pack<T>* to, const blocks::Pack<T>& value) { blocks::store_streaming(to, value); };
  const int lane = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x);
  for (unsigned item = blockIdx.x; item < strips.items; item += gridDim.x)
    if constexpr (dimension > 0)
      walk_strip<dimension>(strips, item, lane, store);
    else
      walk_strip_any(strips, item, lane, store);
}

template <class T>
class Direct final : public DistanceShard {
 public:
  Direct(const DistanceMatrix& problem, const Context& context, const Shard& shard)
      : DistanceShard(problem, context, shard), memory_(*this) {}
  Launch configure(Launch launch) override {
    return launch_ = memory_.configure(launch, cuda::limits, block_rows(), 1);
  }

 private:
  void block(Stages& stages, Range range) override {
    const auto league = static_cast<unsigned>(launch_.league);
    const dim3 team(static_cast<unsigned>(launch_.vector), static_cast<unsigned>(launch_.team));
    const cudaStream_t stream = cuda::stream(queue());
    const Strips<T> strips = memory_.strips(range, launch_);
    stages.stage(queue(), "distance", [&] {
      memory_.with_dimension([&]<int dimension>() { direct<T, dimension><<<league, team, 0, stream>>>(strips); });
      cuda::check_launch();
    });
  }
  Launch launch_;
  StripMemory<T, cuda::Array> memory_;
};

const RegisterSplit<DistanceMatrix> direct_variant{"direct", cuda::model, by_type<Direct>};

}  // namespace
}  // namespace league::distance_matrix
