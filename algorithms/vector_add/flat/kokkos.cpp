// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// After the kernel `Add` of BabelStream 5.0 (University of Bristol, src/kokkos/KokkosStream.cpp), written anew.
#include "algorithms/drivers/one_pass.hpp"
#include "algorithms/vector_add/vector_add.hpp"
#include "backends/kokkos/pass.hpp"

namespace league::kokkos::vector_add {
namespace {

template <class T, class Range>
void add_range(const Range& range, Vector<const T> a, Vector<const T> b, Vector<T> sum) {
  Kokkos::parallel_for("vector_add/flat", range, KOKKOS_LAMBDA(std::int64_t i) { sum(i) = a(i) + b(i); });
}

template <class T>
void add(const Pass& on, Vector<const T> a, Vector<const T> b, Vector<T> sum) {
  with_range(on.exec, on.launch.team, on.size(), [&](const auto& range) { add_range<T>(range, a, b, sum); });
}

const OneVectorPass flat{"flat", written_once(model), {"a", "b", "sum"}, []<class T>(Of<T>) {
                           return kernel("add", add<T>, {.flat = true});
                         }};

}  // namespace
}  // namespace league::kokkos::vector_add
