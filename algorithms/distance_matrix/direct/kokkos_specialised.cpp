// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/distance_matrix/direct/kokkos_specialised.hpp"

#include "algorithms/blocks/words_native.hpp"

namespace league::distance_matrix {
namespace {

template <class T>
using Direct = kokkos_model::Direct<blocks::NativeWords, T>;
const RegisterSplit<DistanceMatrix> direct_variant{"direct", kokkos::specialised_model, by_type<Direct>};

}  // namespace
}  // namespace league::distance_matrix
