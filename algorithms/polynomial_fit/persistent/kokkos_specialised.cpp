// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/sums_native_kokkos.hpp"
#include "algorithms/polynomial_fit/common/kokkos_specialised_persistent.hpp"

namespace league::kokkos::polynomial_fit {
namespace {

template <class T>
using NativePersistent = Persistent<T, blocks::NativeSums>;
const RegisterWholeSolve<PolynomialFit> persistent{"persistent", specialised_model, by_type<NativePersistent>};

}  // namespace
}  // namespace league::kokkos::polynomial_fit
