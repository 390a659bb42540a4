// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include "bench/measure/kernels.hpp"
#include "tests/runtime.hpp"

// What a recording of a compute tells of its kernels.
namespace league::bench {
namespace {

Result kernels_of(const std::string& model, Status status = Status::passed) {
  const Algorithm& algorithm = *registry().algorithm("vector_add");
  Case that{.algorithm = &algorithm, .method = &algorithm.methods.front(), .model = model};
  for (const Parameter& parameter : algorithm.parameters)
    that.parameters.values[parameter.name] = parameter.default_value;
  that.parameters.values["n"] = "100000";
  const auto problem = algorithm.make({that.parameters, that.dtype, 1, nullptr, ""});
  PreparedCase prepared_case(that, *problem, tests::runtime(), std::int64_t{1} << 30);
  Result result{.of = that, .status = status};
  add_kernels(result, prepared_case);
  return result;
}

TEST(Kernels, OfAHostAreNotAskedFor) {
  const Result result = kernels_of("serial");
  EXPECT_TRUE(result.kernels.empty());
  EXPECT_EQ(result.kernels_note, "");
}

TEST(Kernels, OfAGpuAreThoseOfACompute) {
  Runtime& runtime = tests::runtime();
  if (runtime.gpus().empty()) GTEST_SKIP() << "no GPU";
  for (const std::string model : {runtime.backend("cuda") != nullptr ? "cuda" : "hip", "kokkos"}) {
    const Result result = kernels_of(model);
    ASSERT_EQ(result.kernels.size(), 1U) << model << result.kernels_note;
    const KernelFacts& kernel = result.kernels.front();
    EXPECT_NE(kernel.name.find("6league"), std::string::npos) << kernel.name;
    EXPECT_GE(kernel.grid[0] * kernel.block[0] * kernel.block[1], 1U) << model;
    EXPECT_GT(kernel.registers, 0) << model;
    EXPECT_GT(kernel.resident_blocks, 0) << model;
    EXPECT_EQ(kernel.count, 1) << model;
    EXPECT_TRUE(kernels_of(model, Status::failed).kernels.empty()) << model;
  }
}

}  // namespace
}  // namespace league::bench
