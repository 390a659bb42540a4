// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/linear_regression/common/cuda_summed.hpp"

namespace league::cuda::linear_regression {
namespace {

template <class T, int width>
using BlockReduce = Summed<T, width, Combine::last_team>;
const RegisterSolve<LinearRegression> block_reduce{"block_reduce", model, by_width<BlockReduce>};

}  // namespace
}  // namespace league::cuda::linear_regression
