// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/mma_native.hpp"
#include "algorithms/knn/kokkos_per_query.hpp"

namespace league::knn::kokkos_model {
namespace {

/// Shuffles of the subgroup.
struct ShuffledLanes {
  using Subgroup = blocks::mma::Native<blocks::mma::Element::s8>;
  int rank, lanes;
  KOKKOS_FUNCTION static ShuffledLanes of(const Member& /*team*/, int rank, int lanes) { return {rank, lanes}; }
  template <class T>
  KOKKOS_FUNCTION T operator()(T sum) const {
    const int lane = rank % Subgroup::lanes;
    for (int offset = lanes / 2; offset > 0; offset /= 2) sum += Subgroup::shuffle(sum, lane ^ offset);
    return sum;
  }
};

template <class T, class Element>
using PerQuery = PerQueryBy<T, Element, ShuffledLanes>;
const RegisterSplit<Knn> registered{"per_query", kokkos::blocks_model, by_element<PerQuery>};

}  // namespace
}  // namespace league::knn::kokkos_model
