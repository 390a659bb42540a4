// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/knn/common/cuda.hpp"
#include "algorithms/knn/per_query/kernel.hpp"

// A block takes a query and a chunk of the training rows at a time.
namespace league::knn::cuda_model {
namespace {

template <class T, class Element>
__global__ void __launch_bounds__(max_select_threads, cuda::launch_bound(2))
    per_query(const QueryWork<T, Element> work) {
  __shared__ QueryScratch scratch;
  const int lanes = static_cast<int>(blockDim.x);
  const auto comes_last = [](unsigned* ticket, unsigned count) { return blocks::comes_last(ticket, count); };
  for (std::int64_t item = blockIdx.x; item < work.items(); item += gridDim.x)
    take_item<ScratchAtomics>(work, item, blocks::block_group(), lanes, LanesSum{lanes}, comes_last, scratch);
}

template <class T, class Element>
class PerQuery final : public IndependentShard {
 public:
  PerQuery(const Knn& problem, const Context& context, const Shard& shard)
      : IndependentShard(context, shard), memory_(*this, problem) {}
  Launch configure(Launch launch) override {
    const LaunchLimits limits{max_select_threads, cuda::warp_size, "this kernel"};
    launch_ = memory_.configure(launch, limits, max_select_threads, 2 * multiprocessors(*this), true);
    if (launch_.team * launch_.vector % cuda::warp_size != 0)
      throw Unsupported("team size x vector length " + std::to_string(launch_.team * launch_.vector) +
                        ": this kernel needs a multiple of " + std::to_string(cuda::warp_size));
    return launch_;
  }
  void compute(Stages& stages) override {
    stages.stage(queue(), "per_query", [&] {
      per_query<<<static_cast<unsigned>(launch_.league),
                  dim3(static_cast<unsigned>(launch_.vector), static_cast<unsigned>(launch_.team)), 0,
                  cuda::stream(queue())>>>(memory_.work(launch_));
      cuda::check_launch();
    });
  }

 private:
  Launch launch_;
  QueryMemory<T, Element, cuda::Array> memory_;
};

const RegisterSplit<Knn> per_query_variant{"per_query", cuda::model, by_element<PerQuery>};

}  // namespace
}  // namespace league::knn::cuda_model
