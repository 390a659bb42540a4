// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/collectives/member.hpp"
#include "backends/cuda/pass.hpp"

namespace league::cuda {
namespace {

const collectives::RegisterCalls<Pass> calls{model};

}  // namespace
}  // namespace league::cuda
