// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/openmp/openmp.hpp"

#include "algorithms/drivers/one_pass.hpp"
#include "algorithms/vector_add/vector_add.hpp"
#include "backends/host_pass.hpp"

// A thread takes one block of consecutive elements; its vector lanes take neighbours.
namespace league::openmp::vector_add {
namespace {

template <class T>
void fill(const Pass& on, T* index) {
  const std::int64_t n = on.size(), first = on.rows.begin;
#pragma omp parallel for simd num_threads(on.threads) schedule(simd : static)
  for (std::int64_t i = 0; i < n; ++i) index[i] = static_cast<T>(first + i);
}

const OneVectorPass filled{"fill", model, {"index"}, []<class T>(Of<T>) { return kernel("fill", fill<T>); }};

}  // namespace
}  // namespace league::openmp::vector_add
