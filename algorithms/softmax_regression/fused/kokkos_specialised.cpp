// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/words_native.hpp"
#include "algorithms/softmax_regression/fused/kokkos.hpp"

namespace league::softmax_regression::kokkos_model {
namespace {

template <class T>
using NativeFused = Fused<T, blocks::NativeWords>;
const RegisterSolve<SoftmaxRegression> fused{"fused", kokkos::specialised_model, by_type<NativeFused>};

}  // namespace
}  // namespace league::softmax_regression::kokkos_model
