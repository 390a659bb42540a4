// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/sum/common/kokkos.hpp"

#include "algorithms/sum/common/transfers.hpp"

// On a host both copies of a transfer are within host memory: this only tests the orderings.
namespace league::kokkos::sum {
namespace {

// Kokkos chooses the mapping; an iteration is one element.
template <class T>
void range_reduce(const Pass& on, const Work<T>& work) {
  using Range = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  const T* x = work.x;
  Kokkos::parallel_reduce(
      "sum/range_reduce", Range(on.exec, 0, work.chunks.size),
      KOKKOS_LAMBDA(std::int64_t i, Total<T>& mine) { mine += x[i]; }, Value<Total<T>>(work.sums));
}

Launch refuse(Queue&, Launch launch, Chunks) {
  if (launch != Launch{}) throw Unsupported("Kokkos chooses the launch of a RangePolicy");
  return {};
}

constexpr auto range_kernels = []<class T>(Of<T>) {
  return Kernels<Pass, T>{Partials::a_shard, refuse, range_reduce<T>, finish<T>, Sum::any_order};
};

const RegisterSum two_stage_variant{"two_stage", model, chunk_kernels<TeamSum>};
const RegisterSum atomic_variant{"atomic", model, atomic_kernels<TeamSum>};
const RegisterSum range_reduce_variant{"range_reduce", model, range_kernels};
const RegisterTransfers transfers{model, chunk_kernels<TeamSum>};

}  // namespace
}  // namespace league::kokkos::sum
