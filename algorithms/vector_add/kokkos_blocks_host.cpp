// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/words_native.hpp"
#include "algorithms/drivers/one_pass.hpp"
#include "algorithms/vector_add/kokkos_host.hpp"
#include "algorithms/vector_add/vector_add.hpp"

// `wide` of `kokkos` on a host, with non-temporal stores.
namespace league::kokkos::vector_add {
namespace {

const OneVectorPass wide{"wide", blocks_model, {"a", "b", "sum"}, []<class T>(Of<T>) {
                           return kernel("add", add_cache_lines<T, blocks::NativeWords>,
                                         {.per_lane = elements_per_lane<T>});
                         }};

}  // namespace
}  // namespace league::kokkos::vector_add
