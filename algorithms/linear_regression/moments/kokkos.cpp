// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/linear_regression/common/kokkos_gram.hpp"
#include "algorithms/linear_regression/common/kokkos_moments.hpp"

// A lane adds the products of all columns over its packs of rows, the last team those of all; then one thread takes all
// steps on them in its registers.
namespace league::kokkos::linear_regression {
namespace {

template <class T, int width>
using Moments = GramPass<T, width, Descend>;
const RegisterWholeSolve<LinearRegression> moments{"moments", once_gram(), by_moment_width<Moments>};

}  // namespace
}  // namespace league::kokkos::linear_regression
