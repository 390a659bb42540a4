// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/openmp/openmp.hpp"

#include <algorithm>

#include "algorithms/blocks/words_native.hpp"
#include "algorithms/drivers/one_pass.hpp"
#include "algorithms/vector_add/common/packs.hpp"
#include "algorithms/vector_add/vector_add.hpp"
#include "backends/host_pass.hpp"

// A thread takes one block of consecutive elements; its vector lanes take neighbours.
namespace league::openmp::vector_add {
namespace {

template <class T>
void add_plain(const Pass& on, const T* a, const T* b, T* sum) {
  const std::int64_t n = on.size();
#pragma omp parallel for num_threads(on.threads) schedule(static)
  for (std::int64_t i = 0; i < n; ++i) sum[i] = a[i] + b[i];
}

template <class T, class Words>
void add_blocks(const Pass& on, const T* a, const T* b, T* sum) {
  constexpr std::int64_t block = 4096;  // elements: a whole number of lines
  const std::int64_t n = on.size();
#pragma omp parallel num_threads(on.threads)
  {
#pragma omp for schedule(static) nowait
    for (std::int64_t first = 0; first < n; first += block)
      add_lines<Words>(first, std::min(first + block, n), a, b, sum);
    Words::finish_streaming();
  }
}

template <class T>
void add_wide(const Pass& on, const T* a, const T* b, T* sum) {
  if (on.beyond_cache(3 * on.size() * std::int64_t{sizeof(T)}))
    add_blocks<T, blocks::NativeWords>(on, a, b, sum);
  else
    add_blocks<T, blocks::PlainWords>(on, a, b, sum);
}

template <class T>
void fill(const Pass& on, T* index) {
  const std::int64_t n = on.size(), first = on.rows.begin;
#pragma omp parallel for simd num_threads(on.threads) schedule(simd : static)
  for (std::int64_t i = 0; i < n; ++i) index[i] = static_cast<T>(first + i);
}

const OneVectorPass plain{
    "plain", model, {"a", "b", "sum"}, []<class T>(Of<T>) { return kernel("add", add_plain<T>); }};
const OneVectorPass wide{"wide", model, {"a", "b", "sum"}, []<class T>(Of<T>) { return kernel("add", add_wide<T>); }};
const OneVectorPass filled{"fill", model, {"index"}, []<class T>(Of<T>) { return kernel("fill", fill<T>); }};

}  // namespace
}  // namespace league::openmp::vector_add
