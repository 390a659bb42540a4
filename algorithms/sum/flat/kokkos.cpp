// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// After the reduction of everythingsreduced (University of Bristol, src/kokkos/dot.cpp), written anew for one array.
#include "algorithms/sum/common/kokkos.hpp"

namespace league::kokkos::sum {
namespace {

template <class T, class Range>
void sum_range(const Range& range, const Vector<const T>& x, const Value<Total<T>>& sum) {
  Kokkos::parallel_reduce("sum/flat", range, KOKKOS_LAMBDA(std::int64_t i, Total<T>& mine) { mine += x(i); }, sum);
}

template <class T>
void flat(const Pass& on, const Work<T>& work) {
  const Vector<const T> x(work.x, static_cast<std::size_t>(work.chunks.size));
  with_range(on.exec, on.launch.team, work.chunks.size,
             [&](const auto& range) { sum_range<T>(range, x, Value<Total<T>>(work.sums)); });
}

Launch configure(Queue&, Launch launch, Chunks) { return resolve_flat(launch); }

const RegisterSum variant{"flat", written_once(model), []<class T>(Of<T>) {
                            return Kernels<Pass, T>{Partials::a_shard, configure, flat<T>, finish<T>, Sum::any_order};
                          }};

}  // namespace
}  // namespace league::kokkos::sum
