// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/pack_cuda.hpp"
#include "algorithms/distance_matrix/direct.hpp"
#include "algorithms/distance_matrix/part.hpp"

// A block takes a strip of 8 rows and 16 bytes of columns a thread; a thread keeps its columns' points in registers and
// walks down the rows, one 16-byte store a row.
namespace league::distance_matrix {
namespace {

/// DIMENSION 0: any.
template <class T, int dimension>
__global__ void direct(Strips<T> strips) {
  const auto store = [](blocks::Pack<T>* to, const blocks::Pack<T>& value) { blocks::store_past_caches(to, value); };
  const int lane = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x);
  for (unsigned item = blockIdx.x; item < strips.items; item += gridDim.x)
    if constexpr (dimension > 0)
      walk_strip<dimension>(strips, item, lane, store);
    else
      walk_strip_any(strips, item, lane, store);
}

template <class T>
class Direct final : public DistancePart<cuda::Array<T>> {
 public:
  Direct(const DistanceMatrix& problem, const Context& context, const Shard& shard)
      : DistancePart<cuda::Array<T>>(problem, context, shard, {}, [&](const char*, std::int64_t size) {
          return cuda::Array<T>(context.runtime.queue(shard.device), size);
        }) {}
  Launch configure(Launch launch) override {
    launch_ = resolve(launch, {0, 256, 1}, cuda::limits);
    if (launch_.league == 0) launch_.league = league_of(strips({0, this->block_rows()}, nullptr).items);
    launch_.tile = direct_rows;
    return launch_;
  }

 private:
  [[nodiscard]] Strips<T> strips(Range range, T* out) const {
    Strips<T> strips{static_cast<int>(this->n_),
                     static_cast<int>(this->dimension_),
                     static_cast<int>(range.begin),
                     static_cast<int>(range.size()),
                     this->euclidean_,
                     this->points_.data(),
                     out};
    strips.share(launch_.team * launch_.vector);
    return strips;
  }
  void block(Stages& stages, Range range, T* out) override {
    const auto league = static_cast<unsigned>(launch_.league);
    const dim3 team(static_cast<unsigned>(launch_.vector), static_cast<unsigned>(launch_.team));
    const cudaStream_t stream = cuda::stream(this->queue());
    const Strips<T> all = strips(range, out);
    stages.stage(this->queue(), "distance", [&] {
      switch (this->dimension_) {
        case 1:
          direct<T, 1><<<league, team, 0, stream>>>(all);
          break;
        case 2:
          direct<T, 2><<<league, team, 0, stream>>>(all);
          break;
        case 3:
          direct<T, 3><<<league, team, 0, stream>>>(all);
          break;
        case 4:
          direct<T, 4><<<league, team, 0, stream>>>(all);
          break;
        default:
          direct<T, 0><<<league, team, 0, stream>>>(all);
      }
      cuda::check_launch();
    });
  }
  Launch launch_;
};

std::unique_ptr<Prepared> prepare(const DistanceMatrix& problem, const Context& context) {
  return with_type<float, double>(problem.dtype, [&]<class T>() { return split<Direct<T>>(problem, context); });
}

const Register<DistanceMatrix> variant{"direct", cuda::model, prepare};

}  // namespace
}  // namespace league::distance_matrix
