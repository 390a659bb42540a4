// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/serial/serial.hpp"

#include "algorithms/drivers/one_pass.hpp"
#include "backends/host_pass.hpp"
#include "tests/algorithms/axpy/axpy.hpp"

namespace league::serial {
namespace {

void axpy(const Pass& on, const float* x, const float* y, float* sum) {
  for (std::int64_t i = 0; i < on.size(); ++i) sum[i] = 2 * x[i] + y[i];
}

const OnePass<Axpy> plain{"plain", model, {"x", "y", "sum"}, kernel("axpy", axpy)};

}  // namespace
}  // namespace league::serial
