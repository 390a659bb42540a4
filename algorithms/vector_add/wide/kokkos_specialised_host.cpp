// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/words_native.hpp"
#include "algorithms/drivers/one_pass.hpp"
#include "algorithms/vector_add/vector_add.hpp"
#include "algorithms/vector_add/wide/kokkos_host.hpp"

// `wide` of `kokkos` on a host, with non-temporal stores of what exceeds the last-level cache.
namespace league::kokkos::vector_add {
namespace {

template <class T>
void add_wide(const Pass& on, Vector<const T> a, Vector<const T> b, Vector<T> sum) {
  if (on.beyond_cache(3 * on.size() * std::int64_t{sizeof(T)}))
    add_cache_lines<T, blocks::NativeWords>(on, a, b, sum);
  else
    add_cache_lines<T, blocks::PlainWords>(on, a, b, sum);
}

const OneVectorPass wide{"wide", specialised_model, {"a", "b", "sum"}, []<class T>(Of<T>) {
                           return kernel("add", add_wide<T>, {.per_lane = elements_per_lane<T>});
                         }};

}  // namespace
}  // namespace league::kokkos::vector_add
