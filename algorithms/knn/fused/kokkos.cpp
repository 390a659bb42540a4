// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/knn/fused/kokkos_specialised_kernel.hpp"

namespace league::knn::kokkos_model {
namespace {

template <class T, class Element>
using Fused = FusedBy<blocks::TeamThreads, ScratchAtomics, T, Element>;
const RegisterSplit<Knn> fused_variant{"fused", kokkos::model, by_element<Fused>};

}  // namespace
}  // namespace league::knn::kokkos_model
