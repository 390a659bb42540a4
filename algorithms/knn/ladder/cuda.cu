// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/items_cuda.hpp"
#include "algorithms/knn/common/cuda.hpp"
#include "algorithms/knn/ladder/kernel.hpp"

// The lower rungs of the ladder, from the first kernel that works to the one before `direct`. What a thread does with
// its query or pair is in ladder.hpp.
namespace league::knn::cuda_model {
namespace {

// A thread takes one query after another, and all training rows.
template <class Work>
__global__ void search(const Work work) {
  blocks::for_items(work.queries, [&](std::int64_t query) { work.search(query); });
}

// A thread takes one pair of query and training row after another.
template <Rung rung, class Work>
__global__ void compare(const Work work) {
  blocks::for_items(work.pairs(), [&](std::int64_t pair) { work.template compare<rung>(pair); });
}

// A thread takes one value of one training row after another.
template <class Work>
__global__ void transpose(const Work work) {
  blocks::for_items(work.n * work.features, [&](std::int64_t at) { work.transpose(at); });
}

// A block takes a tile of pairs at a time, a thread one of these.
template <class T, class D>
__global__ void compare_tiles(const NaiveWork<T, D> work, blocks::PairTile tile) {
  extern __shared__ std::int32_t scratch[];
  for (std::int64_t item = blockIdx.x; item < tile.count(work.queries, work.n); item += gridDim.x)
    work.compare_tile(tile, item, blocks::block_group(), reinterpret_cast<D*>(scratch));
}

// A thread takes one query after another, and its row of the matrix.
template <class Work>
__global__ void select_alone(const Work work) {
  blocks::for_items(work.queries, [&](std::int64_t query) { work.select(query); });
}

template <class T, class Element, Rung rung>
class Naive final : public IndependentShard {
 public:
  using Work = NaiveWork<T, Distance<Element>>;
  Naive(const Knn& problem, const Context& context, const Shard& shard)
      : IndependentShard(context, shard), memory(*this, problem) {}
  Launch configure(Launch launch) override { return launch_ = naive_launch(memory, launch, cuda::limits); }
  void compute(Stages& stages) override { compute_naive<Naive, rung>(*this, queue(), stages); }

  void search(const Work& work) const {
    cuda_model::search<<<grid(work.queries), block(), 0, stream()>>>(work);
    cuda::check_launch();
  }
  void transpose(const Work& work) const {
    cuda_model::transpose<<<grid(work.n * work.features), block(), 0, stream()>>>(work);
    cuda::check_launch();
  }
  void compare(const Work& work) const {
    const blocks::PairTile tile{launch_.team, launch_.vector};
    if constexpr (rung == Rung::scratch_tile)
      compare_tiles<<<static_cast<unsigned>(launch_.league), block(), tile.scratch() * sizeof(Distance<Element>),
                      stream()>>>(work, tile);
    else
      cuda_model::compare<rung><<<grid(work.pairs()), block(), 0, stream()>>>(work);
    cuda::check_launch();
  }
  void select(const Work& work) const {
    if constexpr (rung == Rung::pair_per_thread) {
      select_alone<<<grid(work.queries), block(), 0, stream()>>>(work);
      cuda::check_launch();
    } else {
      select_rows(queue(), memory.knn, launch_, work.first, work.queries, memory.squared());
    }
  }
  void vote() const { vote_all(queue(), memory.knn); }

 private:
  [[nodiscard]] unsigned grid(std::int64_t items) const {
    return static_cast<unsigned>(blocks::busy_league(launch_, items));
  }
  [[nodiscard]] dim3 block() const {
    return {static_cast<unsigned>(launch_.vector), static_cast<unsigned>(launch_.team)};
  }
  [[nodiscard]] cudaStream_t stream() const { return cuda::stream(queue()); }
  Launch launch_;

 public:
  NaiveMemory<T, Element, rung, cuda::Array> memory;
};

template <Rung rung>
struct Of {
  template <class T, class Element>
  using Method = Naive<T, Element, rung>;
};

const RegisterSplit<Knn> variants[] = {
    {"query_per_thread", cuda::model, by_element<Of<Rung::query_per_thread>::Method>},
    {"pair_per_thread", cuda::model, by_element<Of<Rung::pair_per_thread>::Method>},
    {"team_select", cuda::model, by_element<Of<Rung::team_select>::Method>},
    {"coalesced", cuda::model, by_element<Of<Rung::coalesced>::Method>},
    {"scratch_tile", cuda::model, by_element<Of<Rung::scratch_tile>::Method>}};

}  // namespace
}  // namespace league::knn::cuda_model
