// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <sstream>

#include "algorithms/drivers/one_pass.hpp"
#include "backends/host_pass.hpp"
#include "backends/model.hpp"
#include "bench/cli/list.hpp"
#include "bench/json.hpp"
#include "bench/record/record.hpp"
#include "tests/algorithms/axpy/axpy.hpp"
#include "tests/runtime.hpp"

// How the code of a variant is written, from its registration to the list and the record.
namespace league::bench {
namespace {

// Portable models that this file alone knows, with a variant of `axpy` each.
const RegisterModel models[] = {
    RegisterModel({.name = "slate", .order = 94, .kind = ModelKind::portable, .expected = false}),
    RegisterModel({.name = "chalk", .order = 95, .kind = ModelKind::portable, .expected = false}),
    RegisterModel({.name = "flint", .order = 96, .kind = ModelKind::portable, .expected = false})};
constexpr Model slate{"slate", "serial", DeviceKind::host}, chalk{"chalk", "serial", DeviceKind::host},
    flint{"flint", "serial", DeviceKind::host};

template <class T>
constexpr int width = 64 / sizeof(T);

/// Portable kernels honour each launch, and so do those of portable models in tests of all variants.
struct Pass : serial::Pass {
  using serial::Pass::Pass;
  static Launch resolve(Queue&, Launch launch, Share, std::int64_t) {
    return league::resolve(launch, {1, 1, 1}, {1 << 20, 32, "a test"});
  }
};

void axpy(const Pass& on, const float* x, const float* y, float* sum) {
  for (std::int64_t i = 0; i < on.size(); ++i) sum[i] = 2 * x[i] + y[i];
}
const std::vector<std::string> arrays{"x", "y", "sum"};
const OnePass<Axpy> variants[] = {
    {"plain", written_once(slate), arrays, kernel("axpy", axpy)},
    {"plain",
     written_once<float, double>(chalk, []<class T>(Of<T>) { return NamedNumbers{{"width", width<T>}, {"rows", 3}}; }),
     arrays, kernel("axpy", axpy)},
    {"plain", flint, arrays, kernel("axpy", axpy)},
};

Json row_of(std::string_view model) {
  Result result;
  result.of.algorithm = registry().algorithm("axpy");
  result.of.method = &result.of.algorithm->methods.front();
  result.of.model = model;
  result.of.parameters.values = {{"n", "8"}};
  give_names(result.of);
  return to_json(result);
}

/// What the registration of a variant says against the way in which it is written.
std::string refusal(Writing writing) {
  try {
    register_variant({.algorithm = "axpy", .method = "none", .model = slate, .prepare = {}, .writing = writing});
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Writing, IsInTheRecordOfPortableModels) {
  const Json one = row_of("slate"), numbers = row_of("chalk"), several = row_of("flint"), native = row_of("serial");
  EXPECT_EQ(one.at("bodies"), "one");
  EXPECT_EQ(one.at("shared"), false);
  EXPECT_FALSE(one.contains("numbers"));
  EXPECT_EQ(numbers.at("bodies"), "numbers");
  EXPECT_EQ(numbers.at("numbers").dump(), R"({"width":16,"rows":3})") << "those of f32, in the order of the kernel";
  EXPECT_EQ(several.at("bodies"), "several") << "a registration that tells nothing";
  EXPECT_FALSE(several.contains("shared"));
  EXPECT_FALSE(native.contains("bodies"));
}

TEST(Writing, IsListed) {
  std::ostringstream text, json;
  list(tests::runtime(), text, false);
  for (const char* line :
       {"\n    slate           ready, host, one body\n", "\n    chalk           ready, host, one body with 2 numbers\n",
        "\n    flint           ready, host, several bodies\n", "\n    serial          ready, host\n"})
    EXPECT_NE(text.str().find(line), std::string::npos) << line << "\nin\n" << text.str();
  list(tests::runtime(), json, true);
  const Json all = Json::parse(json.str());
  for (const Json& algorithm : all.at("algorithms"))
    for (const Json& method : algorithm.at("methods"))
      for (const Json& model : method.at("models")) {
        EXPECT_FALSE(model.at("name") == "serial" && model.contains("bodies"));
        if (model.at("name") != "chalk") continue;
        EXPECT_EQ(model.at("bodies"), "numbers");
        EXPECT_EQ(model.at("shared"), false);
        EXPECT_EQ(model.at("numbers").at("f64").dump(), R"({"width":8,"rows":3})");
      }
}

TEST(Writing, OfNativeCodeSaysThatItIsShared) {
  const WrittenModel layer = several_bodies(slate, true);
  EXPECT_EQ(layer.writing.bodies, Bodies::several);
  EXPECT_EQ(layer.writing.shared, true);
  EXPECT_EQ(WrittenModel(slate).writing.shared, std::nullopt) << "not told";
}

TEST(Writing, IsCheckedAtRegistration) {
  const auto refused = [](Bodies bodies, const NamedNumbers& numbers) {
    return refusal({.bodies = bodies, .numbers = {{Dtype::f64, numbers}}});
  };
  const std::string of = "axpy/none/slate: ";
  EXPECT_EQ(refused(Bodies::numbers, {}), of + "f64 has 0 numbers; 1 to 8 are allowed");
  NamedNumbers many;
  for (int i = 0; i < 9; ++i) many.emplace_back("n" + std::to_string(i), 1);
  EXPECT_EQ(refused(Bodies::numbers, many), of + "f64 has 9 numbers; 1 to 8 are allowed");
  EXPECT_EQ(refused(Bodies::numbers, {{"rows", 0}}), of + "f64 has rows = 0; numbers are positive");
  EXPECT_EQ(refused(Bodies::numbers, {{"rows", 1}, {"rows", 2}}),
            of + "f64 has two numbers, or none, named 'rows'; each needs a name of its own");
  EXPECT_EQ(refused(Bodies::one, {{"rows", 1}}), of + "numbers, but its bodies are 'one'");
  EXPECT_EQ(refusal({.bodies = Bodies::numbers}),
            of + "one body with numbers, but no numbers; without any it has one body");
  EXPECT_EQ(registry().variant("axpy", "none", "slate"), nullptr);
}

}  // namespace
}  // namespace league::bench
