// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/knn/cuda_shard.hpp"
#include "algorithms/knn/fused.hpp"

namespace league::knn::cuda_model {
namespace {

// A block takes a tile of queries and a chunk of training rows, tile by tile; a thread a square of products, and one
// query's list. Keys below the threshold of their query are rare: threads push them to scratch, and the query's owner
// thread inserts them.
template <class Shape, class Packed>
__global__ void __launch_bounds__(Shape::threads, cuda::launch_bound(512 / Shape::threads))
    fused(const FusedWork<Packed> work) {
  constexpr int slots = Shape::scratch_bytes / 8 / Shape::rows;  // per query
  alignas(16) __shared__ float scratch[Shape::scratch_bytes / sizeof(float)];
  __shared__ float threshold[Shape::rows];
  __shared__ int pushed[Shape::rows], more;
  float* products = scratch;  // [slots][rows]; the tile's products are in registers
  // [slots][rows]; with an array of pairs the compiler keeps all sums in register pairs
  int* indices = reinterpret_cast<int*>(scratch + slots * Shape::rows);
  const int thread = threadIdx.y * blockDim.x + threadIdx.x;
  const int tiles = work.tiles(Shape::rows), items = tiles * work.chunks();
  if (thread == 0) more = 0;

  for (int item = blockIdx.x; item < items; item += gridDim.x) {
    const int queries = item % tiles * Shape::rows, chunk = item / tiles, end = work.end_of(chunk);
    const auto owns = [&] { return thread < Shape::rows && queries + thread < work.queries; };
    if (thread < Shape::rows) {
      threshold[thread] = owns() ? from_ordered(work.threshold[queries + thread]) : -blocks::KBest<float, int>::none;
      pushed[thread] = 0;
    }
    if (owns()) work.list(chunk, queries + thread).clear();

    for (int first = chunk * work.chunk; first < end; first += Shape::columns) {
      float sum[Shape::thread_rows][Shape::thread_columns];
      blocks::product_tile<Shape, blocks::PlainElement<Packed>>(work.test + work.test_panels.first(queries),
                                                                work.train + work.train_panels.first(first),
                                                                work.train_panels.depth, scratch, sum);
      // Opaque copy of the thread index: keeps address computations out of the product loop (register pressure).
      const int again = thread - (first >> 31);
      const int row = Shape::first_row(again), column = first + Shape::first_column(again);
      const float* norms = work.norms + column;
      for (bool left = true; left;) {
        for (int i = 0; i < Shape::thread_rows; ++i) {
          const int query = row + Shape::row_step(i);
          const float within = threshold[query];
          const auto reaches = [&](int j) { return norms[Shape::column_step(j)] - 2 * sum[i][j] <= within; };
          bool any = false;
          for (int j = 0; j < Shape::thread_columns; ++j) any |= reaches(j);
          if (!any) continue;
          for (int j = 0; j < Shape::thread_columns; ++j) {
            if (!reaches(j)) continue;
            const int slot = atomicAdd(&pushed[query], 1);
            if (slot < slots) {
              products[slot * Shape::rows + query] = sum[i][j];
              indices[slot * Shape::rows + query] = column + Shape::column_step(j);
              sum[i][j] = blocks::no_norm<float>;  // done: NaN is below no threshold
            } else {
              more = 1;
            }
          }
        }
        __syncthreads();
        left = more != 0;
        if (owns() && pushed[thread] > 0) {
          const auto list = work.list(chunk, queries + thread);
          for (int slot = 0; slot < min(pushed[thread], slots); ++slot) {
            const int index = indices[slot * Shape::rows + thread];
            list.insert(work.norms[index] - 2.0 * products[slot * Shape::rows + thread], index);
          }
          threshold[thread] = min(threshold[thread], static_cast<float>(list.threshold()));
          pushed[thread] = 0;
        }
        if (left) {
          __syncthreads();
          if (thread == 0) more = 0;
          __syncthreads();
        }
      }
    }
    if (owns()) atomicMin(work.threshold + queries + thread, ordered(threshold[thread]));
  }
}

// A thread takes a query.
template <class Packed>
__global__ void merge(const FusedWork<Packed> work, std::int64_t* neighbours, double* distances) {
  const std::int64_t threads = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t query = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; query < work.queries; query += threads)
    work.merge(query, {distances + query * work.k, neighbours + query * work.k, work.k, 1});
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
  Launch configure(Launch launch) override { return launch_ = memory_.configure(*this, launch, cuda::limits); }
  void compute(Stages& stages) override {
    const auto& knn = memory_.knn;
    const auto work = memory_.work(launch_.tile);
    const cudaStream_t stream = cuda::stream(queue());
    const int threads = 128, blocks_of_queries = league_of(ceil_div<std::int64_t>(knn.m, threads));
    stages.stage(queue(), "pack", [&] {
      blocks::pack<Element>(stream, knn.train.data(), knn.n, knn.features, memory_.train.data(),
                            memory_.train_norms.data());
      blocks::pack<Element>(stream, knn.test.data(), knn.m, knn.features, memory_.test.data(),
                            memory_.test_norms.data());
    });
    stages.stage(queue(), "fused", [&] {
      fill<<<blocks_of_queries, threads, 0, stream>>>(knn.m, unlimited, work.threshold);
      with_tile(launch_.team,
                [&]<class Shape>() { fused<Shape><<<launch_.league, dim3(1, launch_.team), 0, stream>>>(work); });
      cuda::check_launch();
    });
    stages.stage(queue(), "merge", [&] {
      merge<<<blocks_of_queries, threads, 0, stream>>>(work, knn.neighbours.data(), knn.distances.data());
      cuda::check_launch();
    });
    stages.stage(queue(), "vote", [&] { vote_all(queue(), knn); });
  }

 private:
  Launch launch_;
  FusedMemory<T, Element, cuda::Array> memory_;
};

const RegisterSplit<Knn> registered{"fused", cuda::model, by_element<Fused>};

}  // namespace
}  // namespace league::knn::cuda_model
