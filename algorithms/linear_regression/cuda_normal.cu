// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/sums_cuda.hpp"
#include "algorithms/linear_regression/cuda_direct.hpp"

// A thread takes packs of 16 bytes of the columns of one block of features, or of a pair of blocks, and adds all their
// products in registers; the last block adds the sums of all blocks. Then one block solves.
namespace league::cuda::linear_regression {
namespace {

constexpr int most_lanes_direct = 256, direct_share = 8;  // one team of a multiprocessor: registers

template <class T, int width>
__global__ void __launch_bounds__(most_lanes_direct, 1)
    add_block_of_features(Columns<T> data, int a, double* partials, unsigned* ticket, double* sums) {
  blocks::grid_sums(lane_products<T, width>(data, a, place_of_thread()), partials, ticket, sums);
}

template <class T, int width>
__global__ void __launch_bounds__(most_lanes_direct, 1)
    add_pair_of_blocks(Columns<T> data, int a, int b, double* partials, unsigned* ticket, double* sums) {
  blocks::grid_sums(lane_cross_products<T, width>(data, a, b, place_of_thread()), partials, ticket, sums);
}

template <class T, int width>
class Direct final : public CudaDirect {
 public:
  Direct(const LinearRegression& problem, const Context& context, const Shard& shard)
      : CudaDirect(problem, context, shard), rows_(*this, problem) {
    declare_zeroed(ticket_, "linear_regression/ticket", 1);
  }
  Launch configure(Launch launch) override {
    constexpr int most_values = std::max(Gram::of_block(width), width * width);
    launch_ = resolved(launch, 256, most_lanes_direct, 8 / std::int64_t{sizeof(T)}, direct_share);
    declare(partials_, "linear_regression/partials", std::int64_t{launch_.league} * most_values);
    return launch_;
  }
  void accumulate() const override {
    const Columns<T> data = rows_.data();
    const cudaStream_t on = stream(queue());
    double* sums = sums_.data();
    for (int a = 0; a < gram_.blocks; ++a)
      add_block_of_features<T, width><<<grid(launch_), block(launch_), 0, on>>>(
          data, a, partials_.data(), ticket_.data(), sums + gram_.begin(a, a));
    if constexpr (width == Gram::pair_width)
      for (int a = 0; a < gram_.blocks; ++a)
        for (int b = a + 1; b < gram_.blocks; ++b)
          add_pair_of_blocks<T, width><<<grid(launch_), block(launch_), 0, on>>>(
              data, a, b, partials_.data(), ticket_.data(), sums + gram_.begin(a, b));
    check_launch();
  }

 private:
  DeviceRows<T> rows_;
  Launch launch_;
  Array<double> partials_;
  Array<unsigned> ticket_;
};

const RegisterWholeSolve<LinearRegression> normal_equations{"normal_equations", model, by_block_width<Direct>};

}  // namespace
}  // namespace league::cuda::linear_regression
