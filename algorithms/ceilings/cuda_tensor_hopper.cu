// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/ceilings/cuda_tensor.hpp"

// A team of four warps takes 16 rows side by side: a product [64 x 256] by wgmma, factors in shared memory, sums in
// registers. In f64, which wgmma lacks, a warp takes a row, by mma's of four steps that Hopper brought.
namespace league::ceilings::cuda_tensor {
namespace {

constexpr int group_threads = 128, group_sums = 128;  // of four warps; of a thread

// An instruction's text and registers cannot come from a template: these macros write them out.
#define LEAGUE_SUMS                                                                              \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "                       \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "             \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "             \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "             \
  "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "             \
  "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "             \
  "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
  "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define LEAGUE_4(kind, i) kind(d[i]), kind(d[i + 1]), kind(d[i + 2]), kind(d[i + 3])
#define LEAGUE_16(kind, i) LEAGUE_4(kind, i), LEAGUE_4(kind, i + 4), LEAGUE_4(kind, i + 8), LEAGUE_4(kind, i + 12)
#define LEAGUE_64(kind, i) LEAGUE_16(kind, i), LEAGUE_16(kind, i + 16), LEAGUE_16(kind, i + 32), LEAGUE_16(kind, i + 48)
/// d += a b. `kind`: of the sums' registers; `last`: what the instruction wants after its operands.
#define LEAGUE_WGMMA(instruction, kind, last)                                                                    \
  asm volatile("{ .reg .pred p; setp.eq.u32 p, 0, 0; wgmma.mma_async.sync.aligned." instruction " {" LEAGUE_SUMS \
               "}, %128, %129, p" last "; }"                                                                     \
               : LEAGUE_64(kind, 0), LEAGUE_64(kind, 64)                                                         \
               : "l"(a), "l"(b))

/// Adds the product of the factors that `a` and `b` describe.
template <Dtype dtype>
__device__ void multiply(Sum<dtype> (&d)[group_sums], std::uint64_t a, std::uint64_t b) {
  if constexpr (dtype == Dtype::f32) LEAGUE_WGMMA("m64n256k8.f32.tf32.tf32", "+f", ", 1, 1");
  if constexpr (dtype == Dtype::f16) LEAGUE_WGMMA("m64n256k16.f32.f16.f16", "+f", ", 1, 1, 0, 0");
  if constexpr (dtype == Dtype::bf16) LEAGUE_WGMMA("m64n256k16.f32.bf16.bf16", "+f", ", 1, 1, 0, 0");
  if constexpr (dtype == Dtype::u8) LEAGUE_WGMMA("m64n256k32.s32.u8.u8", "+r", "");
}

/// Word `i` of rows of 32 bytes in shared memory, unswizzled: pieces of 8 rows x 16 bytes, the two pieces of 8 rows
/// side by side.
__device__ blocks::mma::Place place_of(int i) { return {i / 64 * 8 + i / 4 % 8, i / 32 % 2 * 4 + i % 4}; }
/// Describes them. Addresses and strides count 16 bytes.
__device__ std::uint64_t described(const unsigned* rows) {
  constexpr std::uint64_t next_16_bytes = 128 / 16, next_8_rows = 256 / 16;
  const std::uint64_t address = __cvta_generic_to_shared(rows) / 16 & 0x3fff;
  return address | next_16_bytes << 16 | next_8_rows << 32;
}

template <Dtype dtype>
__global__ void __launch_bounds__(group_threads)
    group_products(std::int64_t rows, std::int64_t first, int steps, Operands operands, Sum<dtype>* sums) {
  __shared__ alignas(128) unsigned a[64 * row_words<dtype>], b[256 * row_words<dtype>];
  const int thread = threadIdx.y * blockDim.x + threadIdx.x;
  const std::int64_t end = first + rows;
  for (std::int64_t group = first / rows_side_by_side + blockIdx.x; group * rows_side_by_side < end;
       group += gridDim.x) {
    const std::int64_t row = group * rows_side_by_side;
    for (int i = thread; i < 64 * row_words<dtype>; i += group_threads) {
      const auto [n, word] = place_of(i);
      a[i] = operands.word<dtype, Operand::a>(row + n / tensor_rows * 4, n % tensor_rows, word);
    }
    for (int i = thread; i < 256 * row_words<dtype>; i += group_threads) {
      const auto [n, word] = place_of(i);
      b[i] = operands.word<dtype, Operand::b>(row + n / tensor_columns, n % tensor_columns, word);
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");  // wgmma sees what was stored
    __syncthreads();
    Sum<dtype> d[group_sums] = {};
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll 1
    for (int step = 0; step < steps; step += 16) {
#pragma unroll
      for (int i = 0; i < 16; ++i) multiply<dtype>(d, described(a), described(b));
      asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    }
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    // A warp has 16 rows of the product, a thread 2 x 2 elements of each 8 columns.
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

/// How `group_products` is launched.
template <Dtype dtype>
struct GroupProducts {
  using Sum = cuda_tensor::Sum<dtype>;
  static constexpr auto kernel = group_products<dtype>;
  static constexpr int team = group_threads;
  static void require(int lanes) {
    if (lanes != group_threads)
      throw Unsupported("team size x vector length " + std::to_string(lanes) + ": a product takes four warps, " +
                        std::to_string(group_threads) + " threads");
  }
  static std::int64_t teams(Range rows, int) {
    return rows.size() == 0 ? 0 : ceil_div<std::int64_t>(rows.end, rows_side_by_side) - rows.begin / rows_side_by_side;
  }
};

/// Products [16 x 8] of four steps, 16 deep: the four columns of A and rows of B over and over.
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
      return split<TensorPart<WarpProducts<LongMma>>>(problem, context);
    case Dtype::f16:
      return split<TensorPart<GroupProducts<Dtype::f16>>>(problem, context);
    case Dtype::bf16:
      return split<TensorPart<GroupProducts<Dtype::bf16>>>(problem, context);
    case Dtype::u8:
      return split<TensorPart<GroupProducts<Dtype::u8>>>(problem, context);
    default:
      return split<TensorPart<GroupProducts<Dtype::f32>>>(problem, context);
  }
}

const Register<Ceilings> tensor{"tensor_hopper", cuda::model, prepare};

}  // namespace
}  // namespace league::ceilings::cuda_tensor
