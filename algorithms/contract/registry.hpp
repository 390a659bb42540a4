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
#include "algorithms/contract/writing.hpp"

/// The registry: algorithms with their parameters and methods, and their variants in this executable.
namespace league {

/// Executions of methods whose steps can be recorded.
inline const std::vector<Execution> recordable{Execution::stream, Execution::graph};

struct Method {
  std::string name;
  std::string description{};
  std::vector<Dtype> dtypes{};
  /// Executions of the method, built here or not; those of registered variants are added.
  std::vector<Execution> executions{Execution::stream};
  /// What cannot be expressed -> why: a model ("serial"), an execution ("graph"), or both ("cuda/graph").
  std::map<std::string, std::string> not_expressible{};
  std::vector<std::string> libraries{};  ///< library models, beside our own five
  bool own_models = true;                ///< false: libraries only
  bool naive = false;                    ///< a lower rung of the ladder: only in studies that name it
  std::string problem{};                 ///< methods that solve different problems are not compared
  /// The unit of most of its arithmetic, if not that of the type: {u8, "f32"}, {f32, "tf32 tensor"}.
  std::map<Dtype, std::string> units{};
  /// The arithmetic unit for data of a type; its rate is compared with the measured peak of that name.
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
  /// rows than devices, remainders of teams and packs. Tests run every variant on them.
  std::vector<std::map<std::string, std::string>> edge_cases{};
  /// The result depends on the number of shards, at least two; the rows are the shards.
  bool between_shards = false;

  /// A problem with all rows of its inputs in this process.
  [[nodiscard]] std::unique_ptr<Problem> make_whole(const Making& making, std::pmr::memory_resource& memory) const;
};

struct Variant {
  std::string algorithm, method;
  Model model;
  std::function<std::unique_ptr<Prepared>(const Problem&, const Context&)> prepare;
  std::string unavailable{};             ///< why it cannot run here, if known at registration; else empty
  std::map<Dtype, std::string> units{};  ///< if it uses another unit than its method
  std::vector<Execution> executions{Execution::stream};
  Writing writing{};  ///< of portable models
};

/// The only global of the project: the registrations of this executable's object files.
struct Registry {
  std::vector<Algorithm> algorithms;
  std::vector<Variant> variants;
  [[nodiscard]] const Algorithm* algorithm(std::string_view name) const;
  [[nodiscard]] const Variant* variant(std::string_view algorithm, std::string_view method,
                                       std::string_view model) const;
  /// The executions of a method, each once: those declared, and those of its registered variants.
  [[nodiscard]] std::vector<Execution> executions(std::string_view algorithm, const Method& method) const;
};
Registry& registry();

/// For constructors of problems, as `Problem(within_bounds(making, algorithm))`: returns `making` after checking all
/// parameters. @throws std::invalid_argument naming the parameter and its bounds
const Making& within_bounds(const Making& making, std::string_view algorithm);

struct RegisterAlgorithm {
  explicit RegisterAlgorithm(Algorithm algorithm);
};

/// @throws std::invalid_argument as `require_valid`
void register_variant(Variant variant);

/// `const Register<Knn> variant{"fused", cuda::model, prepare};` beside the kernel. P has a static `algorithm` name.
/// The model says how the code is written: `written_once(kokkos::model)`.
template <class P>
struct Register {
  using Prepare = std::function<std::unique_ptr<Prepared>(const P&, const Context&)>;
  Register(std::string method, WrittenModel model, Prepare prepare,
           std::vector<Execution> executions = {Execution::stream}) {
    register_variant({.algorithm = P::algorithm,
                      .method = std::move(method),
                      .model = model.model,
                      .prepare =
                          [prepare = std::move(prepare)](const Problem& problem, const Context& context) {
                            return prepare(static_cast<const P&>(problem), context);
                          },
                      .executions = std::move(executions),
                      .writing = std::move(model.writing)});
  }
};

}  // namespace league
