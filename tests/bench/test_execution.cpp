// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <algorithm>

#include "backends/communicator.hpp"
#include "backends/model.hpp"
#include "bench/errors.hpp"
#include "bench/measure/check.hpp"
#include "bench/record/record.hpp"
#include "bench/study/models.hpp"
#include "bench/study/renamed.hpp"
#include "bench/study/study.hpp"
#include "bench/tune/tuned_file.hpp"
#include "tests/bench/temporary.hpp"
#include "tests/runtime.hpp"

// Executions as an axis of studies, and what registers itself: an algorithm, a model and an engine that nothing else
// names.
namespace league::bench {
namespace {

using tests::TemporaryFolder;
using Names = std::vector<std::string>;

const RegisterModel accelerator{{.name = "accelerator", .order = 90, .expected = false}};
const RegisterEngine pigeons{"pigeons", DeviceKind::host};

class Executions : public ::testing::Test {
 protected:
  Executions() {
    registry().algorithms.push_back({.name = "descent",
                                     .parameters = {{.name = "n", .kind = Parameter::Kind::size, .default_value = "8"}},
                                     .methods = {{.name = "fused",
                                                  .dtypes = {Dtype::f32},
                                                  .executions = {Execution::stream, Execution::graph},
                                                  .not_expressible = {{"cuda/graph", "for a test"}}},
                                                 {.name = "whole", .dtypes = {Dtype::f32}}},
                                     .make = {}});
    add("fused", {"serial", "serial", DeviceKind::host}, {Execution::stream});
    add("fused", {"kokkos", "serial", DeviceKind::host},
        {Execution::stream, Execution::graph, Execution::kokkos_graph});
    add("fused", {"accelerator", "serial", DeviceKind::host}, {Execution::stream, Execution::graph});
    add("fused", {"peer", "serial", DeviceKind::host}, {Execution::stream});
    registry().algorithms.back().methods.front().libraries = {"peer"};
  }
  ~Executions() override { registry() = before_; }

  static void add(const char* method, Model model, std::vector<Execution> executions) {
    registry().variants.push_back(
        {.algorithm = "descent", .method = method, .model = model, .prepare = {}, .executions = std::move(executions)});
  }
  Study read(const std::string& text) {
    return read_study(folder_.write("study.toml", text), {}, tests::runtime(), datasets_);
  }
  /// Method, execution and model of all cases, and why those cannot run that cannot.
  Names cases(const std::string& text) {
    Names found;
    for (const Comparison& comparison : read(text).comparisons)
      for (const Case& that : comparison.cases)
        found.push_back(method_label(that) + " " + that.model + (that.skip.empty() ? "" : ": " + that.skip));
    return found;
  }
  std::string refusal(const std::string& text) {
    try {
      read(text);
    } catch (const BadInput& error) {
      return std::string(error.what()).substr(folder_.path().string().size());
    }
    return "accepted";
  }
  /// As once the algorithm has no method of this name any more, and the other one has executions.
  static void convert(const std::string& algorithm_name, const std::string& old, const std::string& now) {
    Algorithm& algorithm = *std::ranges::find(registry().algorithms, algorithm_name, &Algorithm::name);
    std::erase_if(algorithm.methods, [&](const Method& method) { return method.name == old; });
    std::erase_if(registry().variants,
                  [&](const Variant& variant) { return variant.algorithm == algorithm_name && variant.method == old; });
    for (Method& method : algorithm.methods)
      if (method.name == now) method.executions = {Execution::stream, Execution::graph, Execution::kokkos_graph};
    for (Variant& variant : registry().variants)
      if (variant.algorithm == algorithm_name && variant.method == now)
        variant.executions = {Execution::stream, Execution::graph, Execution::kokkos_graph};
  }

  const Registry before_ = registry();
  TemporaryFolder folder_;
  Datasets datasets_{{}, tests::runtime().host_memory()};
};

const std::string descent = "algorithm = \"descent\"\nmethods = \"fused\"\n";

TEST_F(Executions, MakeACaseEachWhereAMethodHasThem) {
  const std::string own = descent + "models = [\"serial\", \"kokkos\", \"peer\"]\n";
  EXPECT_EQ(cases(own), (Names{"fused serial", "fused kokkos", "fused peer"}));
  EXPECT_EQ(cases(own + "execution = \"graph\"\n"),
            (Names{"fused graph serial: no launches to record on a host", "fused graph kokkos"}));
  EXPECT_EQ(cases(own + "execution = [\"stream\", \"kokkos_graph\"]\n"),
            (Names{"fused serial", "fused kokkos", "fused kokkos_graph kokkos", "fused peer"}))
      << "Kokkos' own graphs are for what is portable";
  EXPECT_EQ(cases(descent + "models = \"cuda\"\nexecution = \"graph\"\n"), (Names{"fused graph cuda: for a test"}));
  EXPECT_EQ(cases("algorithm = \"descent\"\nmodels = \"kokkos\"\nexecution = \"graph\"\n"),
            (Names{"fused graph kokkos"}))
      << "a method without it makes no case";
}

TEST_F(Executions, AreInTheNameUnlessTheyAreTheDefaultAndAlwaysInTheRecord) {
  const Study study = read(descent + "models = \"kokkos\"\nexecution = [\"stream\", \"graph\"]\n");
  ASSERT_EQ(study.comparisons.size(), 1U) << "they are compared";
  const std::vector<Case>& both = study.comparisons.front().cases;
  EXPECT_EQ(both.at(0).name, "descent/method:fused/model:kokkos/dtype:f32/n:8/devices:1/launch:auto");
  EXPECT_EQ(both.at(1).name, "descent/method:fused/execution:graph/model:kokkos/dtype:f32/n:8/devices:1/launch:auto");
  EXPECT_EQ(case_json(both.at(0)).at("execution"), "stream");
  EXPECT_EQ(case_json(both.at(1)).at("execution"), "graph");
  EXPECT_NE(key_of(both.at(0)), key_of(both.at(1))) << "each is tuned by itself";
}

TEST_F(Executions, WithoutACaseAreRefused) {
  EXPECT_EQ(refusal("algorithm = \"descent\"\nmethods = \"whole\"\nmodels = \"serial\"\n"
                    "execution = [\"stream\", \"graph\"]\n"),
            "/study.toml:4: `execution` 'graph' gives no case: no method of this study has it; leave it out, or "
            "name some that have (see `league list`)");
  EXPECT_EQ(cases(descent + "models = \"serial\"\nexecution = [\"stream\", \"kokkos_graph\"]\n"),
            (Names{"fused serial"}))
      << "a build may lack the model";
  EXPECT_NE(refusal(descent + "execution = \"grap\"\n").find("`execution` is 'grap'"), std::string::npos);
}

TEST_F(Executions, ReachTheVariant) {
  Case that = read("algorithm = \"vector_add\"\nmethods = \"plain\"\nmodels = \"serial\"\nsizes = 8\n")
                  .comparisons.front()
                  .cases.front();
  const auto serial = std::ranges::find_if(registry().variants, [](const Variant& variant) {
    return variant.algorithm == "vector_add" && variant.method == "plain" && variant.model.name == "serial";
  });
  std::vector<Execution> seen;
  serial->prepare = [&seen, real = serial->prepare](const Problem& problem, const Context& context) {
    seen.push_back(context.execution);
    return real(problem, context);
  };
  const auto problem = that.algorithm->make({that.parameters, that.dtype, 1, nullptr, ""});
  for (const Execution execution : {Execution::stream, Execution::graph}) {
    that.execution = execution;
    const PreparedCase prepared_case(that, *problem, tests::runtime(), 1 << 30);
  }
  EXPECT_EQ(seen, (std::vector{Execution::stream, Execution::graph}));
}

TEST_F(Executions, ThatWereMethodsAreStillUnderstoodInStudies) {
  const std::string old = "algorithm = \"linear_regression\"\nmodels = \"kokkos\"\nmethods = ";
  if (registry().variant("linear_regression", "block_reduce", "kokkos") == nullptr) GTEST_SKIP() << "not built";
  convert("linear_regression", "graph", "block_reduce");
  const Study study = read(old + "[\"fused\", \"graph\"]\n");
  ASSERT_EQ(study.comparisons.size(), 1U);
  ASSERT_EQ(study.comparisons.front().cases.size(), 2U);
  EXPECT_EQ(method_label(study.comparisons.front().cases.at(1)), "block_reduce graph");
  ASSERT_EQ(study.notes.size(), 1U);
  EXPECT_EQ(study.notes.front().substr(folder_.path().string().size()),
            "/study.toml:3: `methods` 'graph' of linear_regression is now 'block_reduce' with `execution = \"graph\"`");
  EXPECT_EQ(cases(old + "[\"block_reduce\", \"graph\"]\nexecution = [\"stream\", \"graph\"]\n"),
            (Names{"block_reduce kokkos", "block_reduce graph kokkos"}))
      << "once";
  EXPECT_TRUE(read(old + "\"-graph\"\n").notes.empty());
  convert("polynomial_fit", "graph", "stepwise");
  EXPECT_EQ(cases("algorithm = \"polynomial_fit\"\nmodels = [\"kokkos\", \"openmp\"]\nmethods = \"graph\"\n"),
            (Names{"stepwise kokkos_graph kokkos", "stepwise graph openmp: no launches to record on a host"}));
}

TEST_F(Executions, ThatWereMethodsAreStillUnderstoodInTunedFiles) {
  const DeviceInfo device{.device = {DeviceKind::gpu, 0, 1}, .name = "GPU"};
  const std::string text =
      "device = \"GPU\"\n[searches.\"1\"]\n[[tuned]]\nalgorithm = \"logistic_regression\"\nmethod = \"graph\"\n"
      "model = \"MODEL\"\ndtype = \"f32\"\nsizes = { rows = 10 }\nsearch = \"1\"\nskipped = \"why\"\n";
  const auto read_as = [&](const std::string& model) {
    std::string of = text;
    return TunedFile::read(folder_.write("gpu.toml", of.replace(of.find("MODEL"), 5, model)), device);
  };
  if (registry().variant("logistic_regression", "fused", "kokkos") == nullptr) GTEST_SKIP() << "not built";
  convert("logistic_regression", "graph", "fused");
  const TunedFile file = read_as("cuda");
  EXPECT_EQ(file.entries().front().key.method, "fused");
  EXPECT_EQ(file.entries().front().key.execution, "graph");
  EXPECT_NE(file.note().find("gpu.toml:3: method 'graph' of logistic_regression is now 'fused' with"),
            std::string::npos)
      << file.note();
  EXPECT_NE(file.text().find("method = \"fused\"\nexecution = \"graph\"\n"), std::string::npos) << file.text();
  folder_.write("gpu.toml", file.text());
  EXPECT_EQ(TunedFile::read(folder_.path() / "gpu.toml", device).text(), file.text());
  EXPECT_EQ(TunedFile::read(folder_.path() / "gpu.toml", device).note(), "");
  EXPECT_EQ(read_as("triton").entries().front().key.method, "graph") << "peers keep their methods";
}

TEST_F(Executions, TheOldNameOfAModelIsRead) {
  EXPECT_EQ(modern_model("kokkos_blocks"), "kokkos_specialised");
  EXPECT_TRUE(model_facts(modern_model("kokkos_blocks")) != nullptr);
  EXPECT_EQ(cases(descent + "models = [\"accelerator\", \"kokkos_blocks\"]\n"),
            cases(descent + "models = [\"accelerator\", \"kokkos_specialised\"]\n"));
}

TEST_F(Executions, OldNamesAreOfMethodsThatThereAre) {
  for (const Renamed& one : renamed_methods()) {
    const Algorithm* algorithm = registry().algorithm(one.algorithm);
    if (algorithm == nullptr) continue;
    EXPECT_NE(std::ranges::find(algorithm->methods, one.now, &Method::name), algorithm->methods.end()) << one.now;
  }
}

TEST_F(Executions, WhatRegistersItselfIsFoundInAStudy) {
  EXPECT_EQ(cases(descent + "models = \"accelerator\"\ncommunicator = \"pigeons\"\ndevices = [1, 2]\n"),
            (Names{"fused accelerator", "fused accelerator"}));
  EXPECT_EQ(read(descent + "models = \"accelerator\"\ncommunicator = \"pigeons\"\ndevices = 2\n")
                .comparisons.front()
                .cases.front()
                .name,
            "descent/method:fused/model:accelerator/dtype:f32/n:8/devices:2/communicator:pigeons/launch:auto");
  EXPECT_EQ(read(descent + "models = \"accelerator\"\ndevices = 2\n").comparisons.front().cases.front().communicator,
            "local")
      << "the default";
  EXPECT_TRUE(is_own("accelerator"));
}

TEST_F(Executions, ModelsAndEnginesOfOtherBuildsAreKnownByName) {
  const Names models = known_models();
  for (const char* model :
       {"serial", "openmp", "kokkos", "kokkos_specialised", "cuda", "hip", "cub", "cublas", "cudnn", "kokkos_kernels"})
    EXPECT_EQ(std::ranges::count(models, model), 1) << model;
  const Names engines = engine_names();
  for (const char* engine : {"local", "local_serialized", "nccl"})
    EXPECT_EQ(std::ranges::count(engines, engine), 1) << engine;
  EXPECT_TRUE(is_own("kokkos_specialised") && model_facts("kokkos_specialised")->portable);
  EXPECT_FALSE(is_own("cublas") || is_own("cudnn"));
  EXPECT_EQ(name(kind_of_model("kokkos_specialised")), "specialised");
  EXPECT_EQ(name(kind_of_model("onednn")), "library");
  EXPECT_EQ(name(kind_of_model("kokkos_kernels")), "portable_library");
  EXPECT_EQ(name(kind_of_model("pytorch")), "peer");
  const Algorithm& algorithm = *registry().algorithm("descent");
  const Names declared = declared_models(algorithm, algorithm.methods.front());
  EXPECT_EQ(declared, (Names{"serial", "openmp", "kokkos", "cuda", "hip", "accelerator", "peer"}))
      << "kokkos_specialised is expected where it is registered";
}

}  // namespace
}  // namespace league::bench
