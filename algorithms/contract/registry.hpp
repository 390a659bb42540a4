// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/contract/parameter.hpp"
#include "algorithms/contract/prepared.hpp"

/// What there is: algorithms with their parameters and methods, and the variants that this executable has of them.
namespace league {

/// Of methods whose steps can be recorded.
inline const std::vector<Execution> recordable{Execution::stream, Execution::graph};

struct Method {
  std::string name;
  std::string description{};
  std::vector<Dtype> dtypes{};
  /// That it has in general, built here or not; what its variants register joins them.
  std::vector<Execution> executions{Execution::stream};
  /// What cannot be written -> why: a model ("serial"), an execution ("graph"), or both ("cuda/graph").
  std::map<std::string, std::string> not_expressible{};
  std::vector<std::string> libraries{};  ///< library models that exist beside the five
  bool own_models = true;                ///< false: libraries only
  std::string problem{};                 ///< methods that solve different problems are not compared
  /// What most of its arithmetic is done in, where that is not the type itself: {u8, "f32"}, {f32, "tf32 tensor"}.
  std::map<Dtype, std::string> units{};
  /// The arithmetic unit for data of a type: the ceiling of that name is what its rate is held against.
  [[nodiscard]] std::string unit(Dtype dtype) const;
};

struct Algorithm {
  std::string name;
  std::string description{};
  std::vector<Parameter> parameters{};
  std::vector<Method> methods{};
  bool needs_dataset = false;
  std::function<std::unique_ptr<Problem>(const Making&)> make;
  /// Values of the parameters, sizes among them, of small problems with the edges that matter: nothing, one row, fewer
  /// rows than devices, remainders of teams and packs. Tests hold every variant to them.
  std::vector<std::map<std::string, std::string>> edge_cases{};
  /// What it computes depends on how many shards there are, and takes two at least; its rows are the shards.
  bool between_shards = false;

  /// A problem with its inputs, all rows of them in this process.
  [[nodiscard]] std::unique_ptr<Problem> make_whole(const Making& making, std::pmr::memory_resource& memory) const;
};

struct Variant {
  std::string algorithm, method;
  Model model;
  std::function<std::unique_ptr<Prepared>(const Problem&, const Context&)> prepare;
  std::string obstacle{};                ///< why it cannot run here, where that is known beforehand
  std::map<Dtype, std::string> units{};  ///< where it computes in another unit than its method
  std::vector<Execution> executions{Execution::stream};
};

/// The only global of the project: what the object files of this executable have registered.
struct Registry {
  std::vector<Algorithm> algorithms;
  std::vector<Variant> variants;
  [[nodiscard]] const Algorithm* algorithm(std::string_view name) const;
  [[nodiscard]] const Variant* variant(std::string_view algorithm, std::string_view method,
                                       std::string_view model) const;
  /// The executions of a method, each once: what it declares, and what its variants here register.
  [[nodiscard]] std::vector<Execution> executions(std::string_view algorithm, const Method& method) const;
};
Registry& registry();

/// For constructors of problems, as `Problem(within_bounds(making, algorithm))`: what was given, once every value is
/// one that the algorithm's parameters take. @throws std::invalid_argument naming the parameter and its bounds
const Making& within_bounds(const Making& making, std::string_view algorithm);

struct RegisterAlgorithm {
  explicit RegisterAlgorithm(Algorithm algorithm);
};

/// `const Register<Knn> variant{"fused", cuda::model, prepare};` beside the kernel. P has a static `algorithm` name.
template <class P>
struct Register {
  using Prepare = std::function<std::unique_ptr<Prepared>(const P&, const Context&)>;
  Register(std::string method, Model model, Prepare prepare, std::vector<Execution> executions = {Execution::stream}) {
    registry().variants.push_back({.algorithm = P::algorithm,
                                   .method = std::move(method),
                                   .model = model,
                                   .prepare =
                                       [prepare = std::move(prepare)](const Problem& problem, const Context& context) {
                                         return prepare(static_cast<const P&>(problem), context);
                                       },
                                   .executions = std::move(executions)});
  }
};

}  // namespace league
