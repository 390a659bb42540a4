// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/cluster_cuda.hpp"
#include "algorithms/blocks/wgmma_cuda.hpp"
#include "algorithms/ceilings/cuda_tensor.hpp"

// A team of four warps takes 16 rows together: a product [64 x 256] by wgmma, factors in shared memory, sums in
// registers. In f64, which wgmma lacks, a warp takes a row by m16n8k16, new in Hopper.
namespace league::ceilings::cuda_tensor {
namespace {

/// The unit, and the position of word `i` of its pieces.
template <Dtype dtype>
using Unit = blocks::mma::Warpgroup<element_of(dtype)>;
__device__ blocks::mma::Place place_of(int i) {
  using namespace blocks::mma;
  const int of_piece = i % piece_words;
  const Place place = CoreMatrices::word_of(of_piece / CoreMatrices::core_words, of_piece % CoreMatrices::core_words);
  return {i / piece_words * side + place.row, place.word};
}

template <Dtype dtype>
__global__ void __launch_bounds__(Unit<dtype>::threads)
    group_products(std::int64_t rows, std::int64_t first, int steps, Operands operands, Sum<dtype>* sums) {
  using Unit = cuda_tensor::Unit<dtype>;
  constexpr int group_threads = Unit::threads, group_sums = Unit::sums;
  __shared__ alignas(128) unsigned a[Unit::rows * row_words<dtype>], b[Unit::columns * row_words<dtype>];
  const int thread = threadIdx.y * blockDim.x + threadIdx.x;
  const std::int64_t end = first + rows;
  for (std::int64_t group = first / rows_side_by_side + blockIdx.x; group * rows_side_by_side < end;
       group += gridDim.x) {
    const std::int64_t row = group * rows_side_by_side;
    for (int i = thread; i < Unit::rows * row_words<dtype>; i += group_threads) {
      const auto [n, word] = place_of(i);
      a[i] = operands.word<dtype, Operand::a>(row + n / tensor_rows * 4, n % tensor_rows, word);
    }
    for (int i = thread; i < Unit::columns * row_words<dtype>; i += group_threads) {
      const auto [n, word] = place_of(i);
      b[i] = operands.word<dtype, Operand::b>(row + n / tensor_columns, n % tensor_columns, word);
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");  // makes stores visible to wgmma (async proxy)
    __syncthreads();
    Sum<dtype> d[group_sums] = {};
    const unsigned from_a = Unit::described(blocks::cluster::address_of(a)),
                   from_b = Unit::described(blocks::cluster::address_of(b));
    Unit::begin();
#pragma unroll 1
    for (int step = 0; step < steps; step += 16) {
#pragma unroll
      for (int i = 0; i < 16; ++i) Unit::multiply(d, from_a, from_b);
      Unit::close();
    }
    Unit::template wait<0>();
    // A warp has 16 rows of the product, a thread 2 x 2 elements per 8 columns.
    for (int j = 0; j < 4; ++j) {
      Total<Sum<dtype>> sum = 0;
      for (int i = 0; i < group_sums / 4; ++i) sum += static_cast<Total<Sum<dtype>>>(d[j * (group_sums / 4) + i]);
      sum = warp_sum(sum);
      const std::int64_t mine = row + thread / cuda::warp_size * 4 + j;
      if (thread % cuda::warp_size == 0 && mine >= first && mine < end)
        sums[mine - first] = static_cast<Sum<dtype>>(sum);
    }
    __syncthreads();
  }
}

/// Launches `group_products`.
template <Dtype dtype>
struct GroupProducts {
  using Sum = cuda_tensor::Sum<dtype>;
  static constexpr auto kernel = group_products<dtype>;
  static constexpr int team = Unit<dtype>::threads;
  static void require(int lanes) {
    if (lanes != team)
      throw Unsupported("team size x vector length " + std::to_string(lanes) + ": a product takes four warps, " +
                        std::to_string(team) + " threads");
  }
  static std::int64_t teams(Range rows, int) {
    return rows.size() == 0 ? 0 : ceil_div<std::int64_t>(rows.end, rows_side_by_side) - rows.begin / rows_side_by_side;
  }
};

/// Products m16n8k16: four steps, repeating the four columns of A and rows of B.
class LongMma {
 public:
  using Sum = double;
  struct Tile {
    double sum[4] = {};
  };
  static constexpr int steps = 4, tiles = tensor_columns / 8;

  __device__ LongMma(const Operands& operands, std::int64_t row, int lane) {
    for (int i = 0; i < 2; ++i) a_[i] = real(operands.word<Dtype::f64, Operand::a>(row, i * 8 + lane / 4, lane % 4));
    for (int tile = 0; tile < tiles; ++tile)
      b_[tile] = real(operands.word<Dtype::f64, Operand::b>(row, tile * 8 + lane / 4, lane % 4));
  }
  __device__ void add_to(Tile (&c)[tiles]) const {
    for (int tile = 0; tile < tiles; ++tile)
      asm("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%4,%5,%4,%5,%4,%5}, {%6,%6,%6,%6}, "
          "{%0,%1,%2,%3};"
          : "+d"(c[tile].sum[0]), "+d"(c[tile].sum[1]), "+d"(c[tile].sum[2]), "+d"(c[tile].sum[3])
          : "d"(a_[0]), "d"(a_[1]), "d"(b_[tile]));
  }

 private:
  double a_[2], b_[tiles];
};

std::unique_ptr<Prepared> prepare(const Ceilings& problem, const Context& context) {
  switch (problem.dtype) {
    case Dtype::f64:
      return split<TensorShard<WarpProducts<LongMma>>>(problem, context);
    case Dtype::f16:
      return split<TensorShard<GroupProducts<Dtype::f16>>>(problem, context);
    case Dtype::bf16:
      return split<TensorShard<GroupProducts<Dtype::bf16>>>(problem, context);
    case Dtype::u8:
      return split<TensorShard<GroupProducts<Dtype::u8>>>(problem, context);
    default:
      return split<TensorShard<GroupProducts<Dtype::f32>>>(problem, context);
  }
}

const Register<Ceilings> tensor{"tensor_hopper", cuda::model, prepare};

}  // namespace
}  // namespace league::ceilings::cuda_tensor
