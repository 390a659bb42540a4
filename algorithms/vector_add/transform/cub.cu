// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <primitives_dialect.hpp>

#include "algorithms/drivers/one_pass.hpp"
#include "algorithms/vector_add/vector_add.hpp"
#include "backends/cuda/pass.hpp"

// The library's elementwise transform: it chooses the mapping (on sm_90, bulk copies into shared memory).
namespace league::cuda::vector_add {
namespace {

template <class T>
struct Sum {
  __device__ T operator()(T a, T b) const { return a + b; }
};

template <class T>
void add(const Pass& on, const T* a, const T* b, T* sum) {
  check(cuda::transform(a, b, sum, on.size(), Sum<T>{}, on.stream));
}

const OneVectorPass transform{"transform", library(primitives), {"a", "b", "sum"}, []<class T>(Of<T>) {
                                return library_kernel(primitives, "add", add<T>);
                              }};

}  // namespace
}  // namespace league::cuda::vector_add
