// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/knn/per_query/kokkos_specialised_kernel.hpp"

namespace league::knn::kokkos_model {
namespace {

/// Reductions of Kokkos.
struct VectorLanes {
  static constexpr bool shuffles = false;
  KOKKOS_FUNCTION static LanesSum of(const Member& team, int /*rank*/, int lanes) { return {team, lanes}; }
};

template <class T, class Element>
using PerQuery = PerQueryBy<T, Element, VectorLanes>;
const RegisterSplit<Knn> per_query_variant{"per_query", kokkos::model, by_element<PerQuery>};

}  // namespace
}  // namespace league::knn::kokkos_model
