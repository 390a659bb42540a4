// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/mma_native.hpp"
#include "algorithms/linear_regression/common/cuda_direct.hpp"
#include "algorithms/linear_regression/normal_mma/units.hpp"

// A warp takes runs of rows, of which its lanes have 16 bytes of some columns, and adds X^T X by matrix units and the
// rest by multiply-adds; a block adds those of its warps, then a thread a sum those of all blocks. Then one block
// solves.
namespace league::cuda::linear_regression {
namespace {

using Unit = blocks::mma::Native<blocks::mma::Element::f64>;

template <class T, int blocks_>
__global__ void __launch_bounds__(max_unit_threads, 1) add_rows(Columns<T> data, double* partials) {
  __shared__ double scratch[unit_scratch<Unit, blocks_>];
  add_unit_rows<T, Unit, blocks_>(blocks::block_group(), data, blockIdx.x, gridDim.x, scratch, partials);
}

template <int blocks_>
__global__ void add_blocks(Gram gram, int teams, const double* partials, double* sums) {
  const auto pair = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (pair < column_pairs(gram.features)) add_teams<blocks_>(gram, pair, teams, partials, sums);
}

template <class T>
class Mma final : public CudaDirect {
 public:
  Mma(const LinearRegression& problem, const Context& context, const Shard& shard)
      : CudaDirect(problem, context, shard), rows_(*this, problem) {}
  Launch configure(Launch launch) override {
    const UnitThreads automatic = unit_threads(problem_.features, rows().size());
    launch_ = resolved(launch, automatic.team, max_unit_threads, 8 / std::int64_t{sizeof(T)});
    if (launch.league == 0) launch_.league = unit_league(*this, launch_, automatic);
    require_subgroups<Unit>(launch_);
    with_unit_blocks(problem_.features, [&]<int blocks_>() {
      declare(partials_, "linear_regression/partials", std::int64_t{launch_.league} * UnitSums<blocks_>::size);
    });
    return launch_;
  }
  void accumulate() const override {
    constexpr int small = 128;
    const cudaStream_t on = stream(queue());
    const auto pairs = static_cast<unsigned>(ceil_div(column_pairs(problem_.features), small));
    with_unit_blocks(problem_.features, [&]<int blocks_>() {
      add_rows<T, blocks_><<<grid(launch_), block(launch_), 0, on>>>(rows_.here(), partials_.data());
      add_blocks<blocks_><<<pairs, small, 0, on>>>(gram_, launch_.league, partials_.data(), sums_.data());
    });
    check_launch();
  }

 private:
  DeviceRows<T> rows_;
  Launch launch_;
  Array<double> partials_;
};

const RegisterWholeSolve<LinearRegression> normal_mma{"normal_mma", model, by_type<Mma>};

}  // namespace
}  // namespace league::cuda::linear_regression
