// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/logistic_regression/persistent/kokkos_specialised.hpp"

namespace league::kokkos::logistic_regression {
namespace {

template <class T>
using PersistentInScratch = Persistent<T, blocks::ScratchSums>;
const RegisterWholeSolve<LogisticRegression> persistent{"persistent", kokkos::model, by_type<PersistentInScratch>};

}  // namespace
}  // namespace league::kokkos::logistic_regression
