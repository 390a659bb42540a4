// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/cluster_cuda.hpp"
#include "algorithms/drivers/one_pass.hpp"
#include "algorithms/vector_add/vector_add.hpp"
#include "algorithms/vector_add/wide.hpp"
#include "backends/cuda/pass.hpp"

namespace league::cuda::vector_add {
namespace {

using blocks::cluster::address_of, blocks::cluster::Barrier;

/// A tile of each input, of 8 KiB: what a block copies at a time. The sum replaces the first.
template <class T>
struct Stage {
  static constexpr int packs = 512, elements = packs * Pack<T>::size, bytes = packs * 16;
  Pack<T> a[packs], b[packs];
};
constexpr int stages = 3;

/// Starts the copies of a tile.
template <class T>
__device__ void fetch(Stage<T>& stage, const T* a, const T* b, std::int64_t tile, Barrier arrived) {
  arrived.expect(2 * Stage<T>::bytes);
  blocks::cluster::copy(address_of(stage.a), a + tile * Stage<T>::elements, Stage<T>::bytes, arrived);
  blocks::cluster::copy(address_of(stage.b), b + tile * Stage<T>::elements, Stage<T>::bytes, arrived);
}

// A block takes every league-th tile, through a ring of stages: one thread starts bulk copies of the next tiles and of
// the sums, all add.
template <class T>
__global__ void add_tiles(std::int64_t n, const T* a, const T* b, T* sum) {
  extern __shared__ __align__(128) unsigned char memory[];
  __shared__ std::uint64_t barriers[stages];
  auto* ring = reinterpret_cast<Stage<T>*>(memory);
  const int lanes = blockDim.x * blockDim.y, lane = threadIdx.y * blockDim.x + threadIdx.x;
  const Barrier arrived{address_of(barriers)};
  const std::int64_t tiles = n / Stage<T>::elements;
  if (lane == 0) {
    for (int stage = 0; stage < stages; ++stage) (arrived + stage).init(1);
    Barrier::publish();
    for (int stage = 0; stage < stages - 1; ++stage)
      if (const std::int64_t tile = blockIdx.x + std::int64_t{stage} * gridDim.x; tile < tiles)
        fetch(ring[stage], a, b, tile, arrived + stage);
  }
  __syncthreads();
  int stage = 0;
  unsigned parity = 0;
  for (std::int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    Stage<T>& here = ring[stage];
    (arrived + stage).wait(parity);
    for (int i = lane; i < Stage<T>::packs; i += lanes) here.a[i] = here.a[i] + here.b[i];
    blocks::cluster::fence_copies();
    __syncthreads();
    if (lane == 0) {
      blocks::cluster::copy_out(sum + tile * Stage<T>::elements, address_of(here.a), Stage<T>::bytes);
      blocks::cluster::wait_copied_out<1>();  // the stage before has been read
      const int before = stage == 0 ? stages - 1 : stage - 1;
      if (const std::int64_t next = tile + std::int64_t{stages - 1} * gridDim.x; next < tiles)
        fetch(ring[before], a, b, next, arrived + before);
    }
    if (++stage == stages) stage = 0, parity ^= 1;
  }
  if (lane == 0) blocks::cluster::wait_copied_out<0>();
  if (blockIdx.x == 0)
    for (std::int64_t i = tiles * Stage<T>::elements + lane; i < n; i += lanes) sum[i] = a[i] + b[i];
}

template <class T>
void add_bulk(const Pass& on, const T* a, const T* b, T* sum) {
  constexpr int bytes = stages * static_cast<int>(sizeof(Stage<T>));
  check(allow_scratch(reinterpret_cast<const void*>(add_tiles<T>), bytes));
  add_tiles<<<on.grid(), on.block(), bytes, on.stream>>>(on.size(), a, b, sum);
  check_launch();
}

const OneVectorPass bulk{"bulk", model, {"a", "b", "sum"}, []<class T>(Of<T>) {
                           return kernel("add", add_bulk<T>, {.per_team = Stage<T>::elements, .resident = 4});
                         }};

}  // namespace
}  // namespace league::cuda::vector_add
