// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/mma_cuda.hpp"
#include "algorithms/ceilings/cuda_tensor.hpp"

// A warp takes a row: products [16 x 8] by mma.sync of Ampere and newer ([8 x 8] in f64).
namespace league::ceilings::cuda_tensor {
namespace {

/// Four tiles [16 x 16] by the block `mma`: eight independent products [16 x 8].
template <Dtype dtype>
class Mma {
  using Unit = blocks::mma::Warp<element_of(dtype)>;

 public:
  using Sum = typename Unit::Sum;
  using Tile = typename Unit::fragment_c;
  static constexpr int steps = 1, tiles = tensor_columns / blocks::mma::side;

  __device__ Mma(const Operands& operands, std::int64_t row, int lane) {
#pragma unroll
    for (int i = 0; i < Unit::share; ++i) {
      const auto [in_a, word_a] = Unit::template word_of<Operand::a>(lane, i);
      const auto [in_b, word_b] = Unit::template word_of<Operand::b>(lane, i);
      a_.word[i] = operands.word<dtype, Operand::a>(row, in_a, word_a);
#pragma unroll
      for (int tile = 0; tile < tiles; ++tile)
        b_[tile].word[i] = operands.word<dtype, Operand::b>(row, tile * blocks::mma::side + in_b, word_b);
    }
  }
  __device__ void add_to(Tile (&c)[tiles]) const {
    for (int tile = 0; tile < tiles; ++tile) Unit::mma_sync(c[tile], a_, b_[tile]);
  }

 private:
  typename Unit::fragment_a a_;
  typename Unit::fragment_b b_[tiles];
};

/// In f64 the block's instruction may be larger; here 16 products [8 x 8] by m8n8k4.
template <>
class Mma<Dtype::f64> {
 public:
  using Sum = double;
  struct Tile {
    double sum[2] = {};
  };
  static constexpr int steps = 1, across = tensor_columns / 8, down = tensor_rows / 8, tiles = down * across;

  __device__ Mma(const Operands& operands, std::int64_t row, int lane) {
    for (int i = 0; i < down; ++i) a_[i] = real(operands.word<Dtype::f64, Operand::a>(row, i * 8 + lane / 4, lane % 4));
    for (int j = 0; j < across; ++j)
      b_[j] = real(operands.word<Dtype::f64, Operand::b>(row, j * 8 + lane / 4, lane % 4));
  }
  __device__ void add_to(Tile (&c)[tiles]) const {
    for (int tile = 0; tile < tiles; ++tile)
      asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
          : "+d"(c[tile].sum[0]), "+d"(c[tile].sum[1])
          : "d"(a_[tile / across]), "d"(b_[tile % across]));
  }

 private:
  double a_[down], b_[across];
};

template <Dtype dtype>
std::unique_ptr<Prepared> prepare_one(const Ceilings& problem, const Context& context) {
  return split<TensorShard<WarpProducts<Mma<dtype>>>>(problem, context);
}

std::unique_ptr<Prepared> prepare(const Ceilings& problem, const Context& context) {
  switch (problem.dtype) {
    case Dtype::f64:
      return prepare_one<Dtype::f64>(problem, context);
    case Dtype::f16:
      return prepare_one<Dtype::f16>(problem, context);
    case Dtype::bf16:
      return prepare_one<Dtype::bf16>(problem, context);
    case Dtype::u8:
      return prepare_one<Dtype::u8>(problem, context);
    default:
      return prepare_one<Dtype::f32>(problem, context);
  }
}

const Register<Ceilings> tensor{"tensor", cuda::model, prepare};

}  // namespace
}  // namespace league::ceilings::cuda_tensor
