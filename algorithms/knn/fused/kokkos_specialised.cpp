// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/atomics_native_kokkos.hpp"
#include "algorithms/blocks/group_native_kokkos.hpp"
#include "algorithms/knn/fused/kokkos_specialised_kernel.hpp"

namespace league::knn::kokkos_model {
namespace {

template <class T, class Element>
using Fused = FusedBy<blocks::NativeThreads, blocks::NativeAtomics, T, Element>;
const RegisterSplit<Knn> fused_variant{"fused", kokkos::specialised_model, by_element<Fused>};

}  // namespace
}  // namespace league::knn::kokkos_model
