// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/linear_regression/common/kokkos_moments.hpp"
#include "algorithms/linear_regression/common/kokkos_specialised_gram.hpp"

// One pass adds the products of all columns; then one thread takes all steps on them in its registers.
namespace league::kokkos::linear_regression::specialised {
namespace {

template <class T, int width>
using Moments = GramPass<T, width, Descend>;
const RegisterWholeSolve<LinearRegression> moments{"moments", several_bodies(specialised_model, true),
                                                   by_moment_width<Moments>};

}  // namespace
}  // namespace league::kokkos::linear_regression::specialised
