// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/group_native_kokkos.hpp"
#include "algorithms/blocks/words_native.hpp"
#include "algorithms/softmax_regression/persistent/kokkos.hpp"

namespace league::softmax_regression::kokkos_model {
namespace {

template <class T>
using NativePersistent = Persistent<T, blocks::NativeWords, blocks::NativeThreads>;
const RegisterWholeSolve<SoftmaxRegression> persistent{"persistent", kokkos::specialised_model,
                                                       by_type<NativePersistent>};

}  // namespace
}  // namespace league::softmax_regression::kokkos_model
