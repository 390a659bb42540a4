// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/openmp/openmp.hpp"

#include "algorithms/collectives/member.hpp"
#include "backends/host_pass.hpp"

namespace league::openmp {
namespace {

const collectives::RegisterCalls<Pass> calls{model};

}  // namespace
}  // namespace league::openmp
