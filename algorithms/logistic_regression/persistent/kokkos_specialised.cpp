// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/sums_native_kokkos.hpp"
#include "algorithms/logistic_regression/persistent/kokkos_specialised.hpp"

namespace league::kokkos::logistic_regression {
namespace {

template <class T>
using NativePersistent = Persistent<T, blocks::NativeSums>;
const RegisterWholeSolve<LogisticRegression> persistent{"persistent", specialised_model, by_type<NativePersistent>};

}  // namespace
}  // namespace league::kokkos::logistic_regression
