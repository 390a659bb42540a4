// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/linear_regression/common/kokkos_specialised_direct.hpp"
#include "algorithms/linear_regression/common/kokkos_specialised_gram.hpp"

// One pass, or one for each pair of blocks of features, adds the products of all columns; then one team solves.
namespace league::kokkos::linear_regression::specialised {
namespace {

template <class T, int width>
using NormalEquations = GramPass<T, width, SpecialisedDirect>;

const RegisterWholeSolve<LinearRegression> normal_equations{"normal_equations", several_bodies(specialised_model, true),
                                                            by_block_width<NormalEquations>};

}  // namespace
}  // namespace league::kokkos::linear_regression::specialised
