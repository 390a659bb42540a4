// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/subgroup_native.hpp"
#include "algorithms/knn/per_query/kokkos_specialised_kernel.hpp"

namespace league::knn::kokkos_model {
namespace {

/// Shuffles of the subgroup.
struct ShuffledLanes {
  static constexpr bool shuffles = true;
  blocks::NativeLanes of_subgroup;
  int lanes;
  KOKKOS_FUNCTION static ShuffledLanes of(const Member& /*team*/, int rank, int lanes) {
    return {{rank % blocks::NativeLanes::size}, lanes};
  }
  template <class T>
  KOKKOS_FUNCTION T operator()(T mine) const {
    return of_subgroup.sum(mine, lanes);
  }
};

template <class T, class Element>
using PerQuery = PerQueryBy<T, Element, ShuffledLanes>;
const RegisterSplit<Knn> per_query_variant{"per_query", kokkos::specialised_model, by_element<PerQuery>};

}  // namespace
}  // namespace league::knn::kokkos_model
