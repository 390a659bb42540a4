// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/distance_matrix/split_k/kokkos_specialised.hpp"

namespace league::distance_matrix {
namespace {

template <class T>
using TeamSplitK = kokkos_model::SplitK<blocks::TeamThreads, T>;
const RegisterSplit<DistanceMatrix> split_k_variant{"split_k", kokkos::model, by_type<TeamSplitK>};

}  // namespace
}  // namespace league::distance_matrix
