// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/linear_regression/common/kokkos_specialised_summed.hpp"

namespace league::kokkos::linear_regression::specialised {
namespace {

template <class T, int width>
using BlockReduce = Summed<T, width, Combine::last_team>;
const RegisterSolve<LinearRegression> block_reduce{"block_reduce", several_bodies(specialised_model, true),
                                                   by_width<BlockReduce>};

}  // namespace
}  // namespace league::kokkos::linear_regression::specialised
