// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/softmax_regression/fused/kokkos.hpp"

#include "algorithms/blocks/words.hpp"

namespace league::softmax_regression::kokkos_model {
namespace {

template <class T>
using PlainFused = Fused<T, blocks::PlainWords>;
const RegisterSolve<SoftmaxRegression> fused{"fused", kokkos::model, by_type<PlainFused>};

}  // namespace
}  // namespace league::softmax_regression::kokkos_model
