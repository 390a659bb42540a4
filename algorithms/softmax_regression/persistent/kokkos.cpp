// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/softmax_regression/persistent/kokkos.hpp"

#include "algorithms/blocks/words.hpp"

namespace league::softmax_regression::kokkos_model {
namespace {

template <class T>
using PlainPersistent = Persistent<T, blocks::PlainWords, blocks::TeamThreads>;
const RegisterWholeSolve<SoftmaxRegression> persistent{"persistent", kokkos::model, by_type<PlainPersistent>};

}  // namespace
}  // namespace league::softmax_regression::kokkos_model
