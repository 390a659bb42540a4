// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/linear_regression/common/cuda_summed.hpp"

namespace league::cuda::linear_regression {
namespace {

template <class T, int width>
using Fused = Summed<T, width, Combine::atomic>;
const RegisterSolve<LinearRegression> fused{"fused", model, by_width<Fused>, {Execution::stream}};

}  // namespace
}  // namespace league::cuda::linear_regression
