// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/openmp/openmp.hpp"

#include <algorithm>

#include "algorithms/blocks/words_native.hpp"
#include "algorithms/drivers/one_pass.hpp"
#include "algorithms/vector_add/vector_add.hpp"
#include "algorithms/vector_add/wide/lines.hpp"
#include "backends/host_pass.hpp"

// A thread takes neighbouring blocks of elements, cache line by cache line.
namespace league::openmp::vector_add {
namespace {

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
void add(const Pass& on, const T* a, const T* b, T* sum) {
  add_blocks<T, blocks::PlainWords>(on, a, b, sum);
}

template <class T>
void add_streaming(const Pass& on, const T* a, const T* b, T* sum) {
  if (on.beyond_cache(3 * on.size() * std::int64_t{sizeof(T)}))
    add_blocks<T, blocks::NativeWords>(on, a, b, sum);
  else
    add<T>(on, a, b, sum);
}

const OneVectorPass wide{"wide", model, {"a", "b", "sum"}, []<class T>(Of<T>, const VectorAdd& problem) {
                           return kernel("add", problem.streaming_stores ? add_streaming<T> : add<T>);
                         }};

}  // namespace
}  // namespace league::openmp::vector_add
