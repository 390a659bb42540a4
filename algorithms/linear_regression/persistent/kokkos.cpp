// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/linear_regression/persistent/kokkos_specialised.hpp"

namespace league::kokkos::linear_regression {
namespace {

template <class T, int width>
using PersistentInScratch = Persistent<T, width, blocks::ScratchSums>;
template <class T, int width>
using SegmentsInScratch = Persistent<T, width, blocks::ScratchSums, true>;
const RegisterWholeSolve<LinearRegression> persistent{"persistent", model, by_width<PersistentInScratch>};
const RegisterWholeSolve<LinearRegression> segments{"persistent_segments", model, by_width<SegmentsInScratch>};

}  // namespace
}  // namespace league::kokkos::linear_regression
