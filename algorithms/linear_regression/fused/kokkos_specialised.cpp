// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/linear_regression/common/kokkos_specialised_summed.hpp"

namespace league::kokkos::linear_regression::specialised {
namespace {

template <class T, int width>
using Fused = Summed<T, width, Combine::atomic>;
const RegisterSolve<LinearRegression> fused{
    "fused", several_bodies(specialised_model, true), by_width<Fused>, {Execution::stream}};

}  // namespace
}  // namespace league::kokkos::linear_regression::specialised
