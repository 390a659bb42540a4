// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/knn/common/cuda.hpp"
#include "algorithms/knn/direct/kernel.hpp"

namespace league::knn::cuda_model {
namespace {

using blocks::Pack, blocks::Panels;

// A thread takes four queries, each of its lanes four training rows: a square of differences, from packed panels.
template <class Element, class D>
__global__ void __launch_bounds__(max_threads)
    direct(const typename Element::Packed* test, const typename Element::Packed* train, Panels panels,
           std::int64_t first, std::int64_t queries, D* matrix) {
  using Packet = Pack<typename Element::Packed, side* static_cast<int>(sizeof(typename Element::Packed))>;
  const std::int64_t columns = panels.rows;
  const int wide = side * blockDim.x, high = side * blockDim.y;
  const std::int64_t across = (columns + wide - 1) / wide, down = (queries + high - 1) / high;
  for (std::int64_t item = blockIdx.x; item < across * down; item += gridDim.x) {
    const std::int64_t row = item % down * high + threadIdx.y * side, column = item / down * wide + threadIdx.x * side;
    if (row >= queries || column >= columns) continue;
    const auto* x = test + panels.first(first + row);
    const auto* y = train + panels.first(column);
    D total[side][side] = {};
    for (int begin = 0; begin < panels.depth; begin += exact_terms) {
      float sum[side][side] = {};
      const int end = min(begin + exact_terms, panels.depth);
#pragma unroll 4
      for (int f = begin; f < end; ++f, x += Panels::width, y += Panels::width) {
        const Packet a = *reinterpret_cast<const Packet*>(x), b = *reinterpret_cast<const Packet*>(y);
        for (int i = 0; i < side; ++i)
          for (int j = 0; j < side; ++j) {
            const float difference = Element::widen(a.values[i]) - Element::widen(b.values[j]);
            sum[i][j] += difference * difference;
          }
      }
      for (int i = 0; i < side; ++i)
        for (int j = 0; j < side; ++j) total[i][j] += static_cast<D>(sum[i][j]);
    }
    for (int i = 0; i < side; ++i)
      *reinterpret_cast<Pack<D>*>(matrix + (row + i) * columns + column) = *reinterpret_cast<const Pack<D>*>(total[i]);
  }
}

template <class T, class Element>
class Direct final : public IndependentShard {
 public:
  Direct(const Knn& problem, const Context& context, const Shard& shard)
      : IndependentShard(context, shard), memory_(*this, problem) {}
  Launch configure(Launch launch) override {
    return launch_ = memory_.configure(launch, cuda::warp_size, multiprocessors(*this));
  }
  void compute(Stages& stages) override {
    const auto& knn = memory_.knn;
    const cudaStream_t stream = cuda::stream(queue());
    stages.stage(queue(), "pack", [&] {
      blocks::pack<Element>(stream, knn.train.data(), knn.n, knn.features, memory_.train.data(), memory_.norms.data());
      blocks::pack<Element>(stream, knn.test.data(), knn.m, knn.features, memory_.test.data(), memory_.norms.data());
    });
    for (std::int64_t first = 0; first < knn.m; first += memory_.at_once) {
      const std::int64_t queries = std::min(memory_.at_once, knn.m - first);
      stages.stage(queue(), "distance", [&] {
        direct<Element><<<launch_.league, dim3(launch_.vector, launch_.team), 0, stream>>>(
            memory_.test.data(), memory_.train.data(), memory_.train_panels, first, queries, memory_.matrix.data());
        cuda::check_launch();
      });
      stages.stage(queue(), "select", [&] {
        select_rows(queue(), knn, selection_launch(queries, knn.n), first, queries, memory_.squared());
      });
    }
    stages.stage(queue(), "vote", [&] { vote_all(queue(), knn); });
  }

 private:
  Launch launch_;
  DirectMemory<T, Element, cuda::Array> memory_;
};

const RegisterSplit<Knn> direct_variant{"direct", cuda::model, by_element<Direct>};

}  // namespace
}  // namespace league::knn::cuda_model
