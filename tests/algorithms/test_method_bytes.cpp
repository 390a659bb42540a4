// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include "tests/algorithms/softmax_regression.hpp"

// Bytes moved by methods, against the formulas in the algorithms' pages.
namespace league {
namespace {

using Values = std::map<std::string, std::string>;

std::unique_ptr<Problem> make(const Algorithm& algorithm, const Values& values, Dtype dtype, const std::string& problem,
                              const Dataset& data) {
  Parameters parameters;
  for (const Parameter& parameter : algorithm.parameters) parameters.values[parameter.name] = parameter.default_value;
  for (const auto& [key, value] : values) parameters.values[key] = value;
  return algorithm.make({parameters, dtype, 1, &data, problem});
}

double bytes(const char* name, const char* method, const Values& values, Dtype dtype, const Dataset& data = {}) {
  const Algorithm& algorithm = *registry().algorithm(name);
  const auto found = std::ranges::find(algorithm.methods, method, &Method::name);
  return make(algorithm, values, dtype, found == algorithm.methods.end() ? "" : found->problem, data)
      ->method_bytes(method);
}

TEST(MethodBytes, OfErrorsThatAreWrittenAndReadAgain) {
  const Values values{{"points", "50"}, {"features", "5"}, {"steps", "4"}};
  EXPECT_DOUBLE_EQ(bytes("linear_regression", "fused", values, Dtype::f32), 40 * 6 * 4 * 4);
  EXPECT_DOUBLE_EQ(bytes("linear_regression", "atomic", values, Dtype::f32), 40 * (2 * 5 + 3) * 4 * 4);
  EXPECT_DOUBLE_EQ(bytes("linear_regression", "streams", values, Dtype::f64), 40 * (2 * 5 + 3) * 8 * 4);
  EXPECT_DOUBLE_EQ(bytes("linear_regression", "normal_equations", values, Dtype::f64), 40 * 6 * 8);
  EXPECT_DOUBLE_EQ(bytes("linear_regression", "normal_mma", values, Dtype::f64), 40 * 6 * 8);
}

TEST(MethodBytes, OfProductsOnePassAfterAnother) {
  const Values logistic{{"rows", "777"}, {"features", "8"}, {"steps", "6"}};
  EXPECT_DOUBLE_EQ(bytes("logistic_regression", "fused", logistic, Dtype::f64), 777 * 6 * (8 * 8 + 1));
  EXPECT_DOUBLE_EQ(bytes("logistic_regression", "newton", logistic, Dtype::f64), 777 * 6 * (8 * 8 + 1));
  EXPECT_DOUBLE_EQ(bytes("logistic_regression", "unfused", logistic, Dtype::f64), 777 * 6 * (2 * 8 * 8 + 4 * 8 + 1));
  const Dataset data = softmax_regression::tests::generated(301, 3, 33, 5, Dtype::f32);
  const Values batches{{"steps", "7"}, {"batch", "128"}};
  const double rows = 2 * 301 + 128;  // of seven steps, three of which take all rows
  EXPECT_DOUBLE_EQ(bytes("softmax_regression", "fused", batches, Dtype::f32, data), rows * (33 * 4 + 4));
  EXPECT_DOUBLE_EQ(bytes("softmax_regression", "flat", batches, Dtype::f32, data), rows * (33 * 4 + 4));
  EXPECT_DOUBLE_EQ(bytes("softmax_regression", "persistent", batches, Dtype::f32, data), rows * (33 * 4 + 4));
  EXPECT_DOUBLE_EQ(bytes("softmax_regression", "gemm", batches, Dtype::f32, data), rows * (2 * 33 * 4 + 4 + 4 * 5 * 4));
  EXPECT_DOUBLE_EQ(bytes("softmax_regression", "mma", batches, Dtype::f32, data),
                   301 * 2 * 33 * 4 + rows * (2 * 33 * 4 + 4));
  EXPECT_DOUBLE_EQ(bytes("softmax_regression", "dual", batches, Dtype::f32, data),
                   301 * (2 * 33 * 4 + 4 + 8 * (301 + rows)));
  const Dataset few = softmax_regression::tests::generated(20, 3, 33, 5, Dtype::f32);
  const Algorithm& softmax = *registry().algorithm("softmax_regression");
  const Cost cost = make(softmax, {{"steps", "7"}}, Dtype::f32, "", few)->cost();
  EXPECT_DOUBLE_EQ(cost.bytes, 20 * (33 * 4 + 4));  // once
  EXPECT_DOUBLE_EQ(cost.operations, 20 * (20 * 33 + 2 * (140 + 34) * 5));
}

TEST(MethodBytes, OfPixelsThatAreReadAsBytes) {
  const Dataset data = softmax_regression::tests::generated(300, 3, 33, 5, Dtype::u8);
  const Values steps{{"steps", "7"}}, one{{"steps", "1"}};
  for (const Dtype dtype : {Dtype::u8, Dtype::f32}) {
    const auto size = static_cast<double>(size_bytes(dtype));
    EXPECT_DOUBLE_EQ(bytes("softmax_regression", "fused", steps, dtype, data), 2100 * (33 * size + 4));
    EXPECT_DOUBLE_EQ(bytes("softmax_regression", "mma", steps, dtype, data),
                     300 * 33 * (size + 1) + 2100 * (2 * 33 + 4));
  }
  const Algorithm& softmax = *registry().algorithm("softmax_regression");
  EXPECT_DOUBLE_EQ(make(softmax, steps, Dtype::u8, "", data)->cost().bytes, 300 * (33 + 4)) << "rows may stay";
  EXPECT_DOUBLE_EQ(make(softmax, steps, Dtype::f32, "", data)->cost().bytes, 300 * (33 * 4 + 4));
  EXPECT_DOUBLE_EQ(make(softmax, one, Dtype::f32, "", data)->cost().bytes, 300 * (33 * 4 + 4));
}

TEST(MethodBytes, OfAMatrixBetweenPasses) {
  const Dataset data = softmax_regression::tests::generated(300, 131, 33, 2, Dtype::u8);
  const double fused = bytes("knn", "fused", {{"k", "3"}}, Dtype::f32, data);
  EXPECT_DOUBLE_EQ(fused, (300 + 131) * 33 * 4 + 4 * 300 + 131 * (4 + 16 * 3));
  for (const char* method : {"direct", "gram"})
    EXPECT_DOUBLE_EQ(bytes("knn", method, {{"k", "3"}}, Dtype::f32, data), fused + 8.0 * 300 * 131) << method;
  const Values points{{"n", "129"}, {"dimension", "5"}};
  for (const char* method : {"direct", "tiled", "symmetric", "split_k", "product"})
    EXPECT_DOUBLE_EQ(bytes("distance_matrix", method, points, Dtype::f64), (129 * 129 + 129 * 5) * 8) << method;
  EXPECT_DOUBLE_EQ(bytes("distance_matrix", "gram", points, Dtype::f64), (3 * 129 * 129 + 129 * 5) * 8);
}

TEST(MethodBytes, OfStepsThatReadAndWriteEverything) {
  const Values cells{{"n", "20"}, {"steps", "7"}};
  EXPECT_DOUBLE_EQ(bytes("stencil", "tiled", cells, Dtype::f32), 7 * 2 * 8000 * 4);
  EXPECT_DOUBLE_EQ(bytes("stencil", "plain", cells, Dtype::f64), 7 * 2 * 8000 * 8);
  const Cost cost = make(*registry().algorithm("stencil"), cells, Dtype::f32, "", {})->cost();
  EXPECT_DOUBLE_EQ(cost.bytes, 2 * 8000 * 4) << "several steps may be taken at once";
  EXPECT_DOUBLE_EQ(cost.written_bytes, 8000 * 4);
  EXPECT_DOUBLE_EQ(cost.operations, 7 * 8 * 8000);
}

TEST(MethodOperations, OfProductsBySymmetryAndByUnit) {
  const Algorithm& distances = *registry().algorithm("distance_matrix");
  const Values points{{"n", "129"}, {"dimension", "5"}};
  const double half = 129 * 130 / 2, whole = 129 * 129;
  for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
    const auto problem = make(distances, points, dtype, "", {});
    const double products = dtype == Dtype::f32 ? 3 : 1;  // of f16
    EXPECT_DOUBLE_EQ(problem->cost().operations, 2 * half * 5);
    EXPECT_DOUBLE_EQ(problem->cost().written_bytes, whole * static_cast<double>(size_bytes(dtype)));
    EXPECT_DOUBLE_EQ(problem->method_operations("symmetric"), 2 * half * 5);
    EXPECT_DOUBLE_EQ(problem->method_operations("product"), 2 * whole * 5);
    EXPECT_DOUBLE_EQ(problem->method_operations("mma"), products * 2 * whole * 5);
    EXPECT_DOUBLE_EQ(problem->method_operations("wgmma_symmetric"), products * 2 * half * 5);
    EXPECT_DOUBLE_EQ(problem->method_operations(""), products * 2 * half * 5) << "in the best unit";
  }
}

TEST(MethodOperations, OfPixelsAndOfOtherNumbers) {
  const Dataset pixels = softmax_regression::tests::generated(600, 4, 33, 5, Dtype::u8),
                reals = softmax_regression::tests::generated(600, 4, 33, 5, Dtype::f32);
  const Algorithm &knn = *registry().algorithm("knn"), &softmax = *registry().algorithm("softmax_regression");
  EXPECT_EQ(make(knn, {}, Dtype::f32, "", pixels)->method_unit("mma"), "") << "the registered one, of bytes";
  EXPECT_EQ(make(knn, {}, Dtype::f32, "", pixels)->cost().best_unit, "u8 tensor");
  for (const char* method : {"mma", "mma_large", "wgmma"})
    EXPECT_EQ(make(knn, {}, Dtype::f32, "", reals)->method_unit(method), "f16 tensor") << method;
  EXPECT_EQ(make(knn, {}, Dtype::f32, "", reals)->method_unit("fused"), "");
  EXPECT_EQ(make(knn, {}, Dtype::f32, "", reals)->cost().best_unit, "f16 tensor");
  const auto of_pixels = make(softmax, {{"steps", "7"}}, Dtype::f32, "", pixels);
  EXPECT_EQ(of_pixels->method_unit("mma"), "");
  EXPECT_DOUBLE_EQ(of_pixels->method_operations("mma"), 3 * of_pixels->method_operations("fused"));
  EXPECT_EQ(make(softmax, {}, Dtype::f32, "", reals)->method_unit("mma"), "tf32 tensor");
  EXPECT_DOUBLE_EQ(of_pixels->cost().other_operations.at("exp"), 600 * 7 * 4);
}

TEST(MethodBytes, AreNeverFewerThanTheProblemNeeds) {
  const Dataset rows = softmax_regression::tests::generated(600, 4, 3, 5, Dtype::f32),
                images = softmax_regression::tests::generated(600, 4, 784, 5, Dtype::u8);
  for (const Algorithm& algorithm : registry().algorithms)
    for (const Method& method : algorithm.methods) {
      if (!algorithm.make || algorithm.edge_cases.empty()) continue;
      const Dataset& data = algorithm.name == "cnn" ? images : rows;
      const auto has_f32 = std::ranges::find(method.dtypes, Dtype::f32) != method.dtypes.end();
      const auto problem = make(algorithm, algorithm.edge_cases.back(), has_f32 ? Dtype::f32 : method.dtypes.front(),
                                method.problem, data);
      EXPECT_GE(problem->method_bytes(method.name), problem->cost().bytes) << algorithm.name << " " << method.name;
      EXPECT_EQ(problem->method_bytes("a peer's"), problem->cost().bytes) << algorithm.name;
      const Cost cost = problem->cost();
      EXPECT_LE(cost.written_bytes, cost.bytes) << algorithm.name;
      EXPECT_GE(problem->method_operations(method.name), cost.operations) << algorithm.name << " " << method.name;
      const std::string of_data = problem->method_unit(method.name);
      if ((of_data.empty() ? method.unit(problem->dtype) : of_data) == cost.best_unit) {
        EXPECT_GE(problem->method_operations(method.name), problem->method_operations(""))
            << algorithm.name << " " << method.name;
      }
    }
}

}  // namespace
}  // namespace league
