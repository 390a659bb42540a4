// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/sums_cuda.hpp"
#include "algorithms/linear_regression/common/cuda.hpp"
#include "algorithms/linear_regression/common/gram_lanes.hpp"

// A thread takes packs of the columns of one block of features, or of a pair of blocks, and adds all their products in
// registers; the last block adds the sums of all blocks.
namespace league::cuda::linear_regression {

template <class T, int width>
__global__ void __launch_bounds__(max_block_lanes<width>, block_teams<width>)
    add_block_of_features(Columns<T> data, int a, double* partials, unsigned* ticket, double* sums) {
  blocks::grid_sums(lane_products<T, width>(data, a, place_of_thread()), partials, ticket, sums);
}

template <class T, int width>
__global__ void __launch_bounds__(max_block_lanes<width>, 1)
    add_pair_of_blocks(Columns<T> data, int a, int b, double* partials, unsigned* ticket, double* sums) {
  blocks::grid_sums(lane_cross_products<T, width>(data, a, b, place_of_thread()), partials, ticket, sums);
}

/// The pass over the rows of a method `Finish`.
template <class T, int width, class Finish>
class GramPass final : public Finish {
 public:
  GramPass(const LinearRegression& problem, const Context& context, const Shard& shard)
      : Finish(problem, context, shard), rows_(*this, problem) {
    this->declare_zeroed(ticket_, "linear_regression/ticket", 1);
  }
  Launch configure(Launch launch) override {
    constexpr int max_values = std::max(Gram::of_block(width), width * width);
    constexpr int rows_per_lane = block_bytes<width> / static_cast<int>(sizeof(T));
    launch_ = this->resolved(launch, 256, max_block_lanes<width>, rows_per_lane, block_share<width>);
    this->declare(partials_, "linear_regression/partials", std::int64_t{launch_.league} * max_values);
    return launch_;
  }
  void accumulate() const override {
    const Columns<T> data = rows_.here();
    const Gram gram(data.features);
    const cudaStream_t on = stream(this->queue());
    const unsigned grid = this->grid(launch_);
    const dim3 block = this->block(launch_);
    double* sums = this->sums_.data();
    for (int a = 0; a < gram.blocks; ++a)
      add_block_of_features<T, width>
          <<<grid, block, 0, on>>>(data, a, partials_.data(), ticket_.data(), sums + gram.begin(a, a));
    if constexpr (width == Gram::pair_width)
      for (int a = 0; a < gram.blocks; ++a)
        for (int b = a + 1; b < gram.blocks; ++b)
          add_pair_of_blocks<T, width>
              <<<grid, block, 0, on>>>(data, a, b, partials_.data(), ticket_.data(), sums + gram.begin(a, b));
    check_launch();
  }

 private:
  DeviceRows<T> rows_;
  Launch launch_;
  Array<double> partials_;
  Array<unsigned> ticket_;
};

}  // namespace league::cuda::linear_regression
