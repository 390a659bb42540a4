// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/openmp/openmp.hpp"

#include "algorithms/drivers/one_pass.hpp"
#include "algorithms/vector_add/vector_add.hpp"
#include "backends/host_pass.hpp"

// A thread takes one block of consecutive elements; its vector lanes take neighbours.
namespace league::openmp::vector_add {
namespace {

template <class T>
void add(const Pass& on, const T* a, const T* b, T* sum) {
  const std::int64_t n = on.size();
#pragma omp parallel for num_threads(on.threads) schedule(static)
  for (std::int64_t i = 0; i < n; ++i) sum[i] = a[i] + b[i];
}

const OneVectorPass plain{"plain", model, {"a", "b", "sum"}, []<class T>(Of<T>) { return kernel("add", add<T>); }};

}  // namespace
}  // namespace league::openmp::vector_add
