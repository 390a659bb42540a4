// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/ceilings/cuda_tensor.hpp"

// A warp takes a row: products [16 x 8] by the instructions that all GPUs since Ampere have ([8 x 8] in f64).
namespace league::ceilings::cuda_tensor {
namespace {

/// A and B of an instruction in registers, all elements alike.
template <Dtype dtype>
struct Factors {
  static constexpr int steps = 1, size = 4;
  unsigned a, b;
  __device__ Factors(int left, int right) : a(packed<dtype>(left)), b(packed<dtype>(right)) {}
};

template <Dtype dtype>
struct Mma;

template <>
struct Mma<Dtype::f32> : Factors<Dtype::f32> {
  using Sum = float;
  using Factors::Factors;
  __device__ void add_to(float (&c)[4]) const {
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%5,%5}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a), "r"(b));
  }
};

template <>
struct Mma<Dtype::f16> : Factors<Dtype::f16> {
  using Sum = float;
  using Factors::Factors;
  __device__ void add_to(float (&c)[4]) const {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%5,%5}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a), "r"(b));
  }
};

template <>
struct Mma<Dtype::bf16> : Factors<Dtype::bf16> {
  using Sum = float;
  using Factors::Factors;
  __device__ void add_to(float (&c)[4]) const {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%5,%5}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a), "r"(b));
  }
};

template <>
struct Mma<Dtype::u8> : Factors<Dtype::u8> {
  using Sum = std::int32_t;
  using Factors::Factors;
  __device__ void add_to(std::int32_t (&c)[4]) const {
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%5,%5}, {%0,%1,%2,%3};"
                 : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
                 : "r"(a), "r"(b));
  }
};

template <>
struct Mma<Dtype::f64> {
  using Sum = double;
  static constexpr int steps = 1, size = 2;
  double a, b;
  __device__ Mma(int left, int right) : a(left), b(right) {}
  __device__ void add_to(double (&c)[2]) const {
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
                 : "+d"(c[0]), "+d"(c[1])
                 : "d"(a), "d"(b));
  }
};

template <Dtype dtype>
std::unique_ptr<Prepared> prepare_one(const Ceilings& problem, const Context& context) {
  return split<TensorPart<WarpProducts<Mma<dtype>>>>(problem, context);
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
