// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/linear_regression/persistent/kokkos_specialised.hpp"

#include "algorithms/blocks/sums_native_kokkos.hpp"

namespace league::kokkos::linear_regression::specialised {
namespace {

template <class T, int width>
using NativePersistent = Persistent<T, width, blocks::NativeSums>;
template <class T, int width>
using NativeSegments = Persistent<T, width, blocks::NativeSums, true>;
const RegisterWholeSolve<LinearRegression> persistent{"persistent", several_bodies(specialised_model, true),
                                                      by_width<NativePersistent>};
const RegisterWholeSolve<LinearRegression> segments{"persistent_segments", several_bodies(specialised_model, true),
                                                    by_width<NativeSegments>};

}  // namespace
}  // namespace league::kokkos::linear_regression::specialised
