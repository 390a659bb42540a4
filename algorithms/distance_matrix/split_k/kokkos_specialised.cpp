// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/distance_matrix/split_k/kokkos_specialised.hpp"

#include "algorithms/blocks/group_native_kokkos.hpp"

namespace league::distance_matrix {
namespace {

template <class T>
using NativeSplitK = kokkos_model::SplitK<blocks::NativeThreads, T>;
const RegisterSplit<DistanceMatrix> split_k_variant{"split_k", kokkos::specialised_model, by_type<NativeSplitK>};

}  // namespace
}  // namespace league::distance_matrix
