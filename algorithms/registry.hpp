// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/algorithm.hpp"

/// What there is: algorithms with their parameters and methods, and the variants that this executable has of them.
namespace league {

/// A value of a study that an algorithm understands beside those that every algorithm has.
struct Parameter {
  /// A `size` is a key of `sizes` and always part of the case's name; a `real` is finite.
  enum class Kind { size, integer, real, choice };
  std::string name;
  Kind kind = Kind::integer;
  std::string standard;  ///< the default, as written in a study
  std::int64_t least = 1;
  std::int64_t most = std::int64_t{1} << 40;
  std::vector<std::string> choices{};
  std::string description{};
};

/// The sizes of an algorithm that `needs_dataset`, and its own parameters behind them.
std::vector<Parameter> with_dataset_sizes(std::vector<Parameter> own);

/// Values of all parameters of one case.
struct Parameters {
  std::map<std::string, std::string, std::less<>> values;
  [[nodiscard]] std::int64_t integer(std::string_view name) const;
  [[nodiscard]] double real(std::string_view name) const;
  [[nodiscard]] const std::string& choice(std::string_view name) const;
};

/// Labelled rows, split into training and test: u8 or f32 features [rows x columns], i32 labels [rows].
struct Dataset {
  HostArray train, train_labels, test, test_labels;
  int classes = 0;
};

/// What a problem is made from.
struct Making {
  Parameters parameters;
  Dtype dtype;
  std::uint64_t seed;
  std::pmr::memory_resource& memory;
  const Dataset* dataset;  ///< null unless the algorithm `needs_dataset`
  std::string problem;     ///< `Method::problem` of the methods that will be compared on it
};
/// For what no problem can be made from. @throws std::invalid_argument with `message` unless `condition`
void require(bool condition, const std::string& message);

/// Why a host has no method that records launches: for `Method::not_expressible`.
inline constexpr const char* no_launches = "no launches to record on a host";

struct Method {
  std::string name;
  std::string description{};
  std::vector<Dtype> dtypes{};
  std::map<std::string, std::string> not_expressible{};  ///< model -> why
  std::vector<std::string> libraries{};                  ///< library models that exist beside the five
  bool own_models = true;                                ///< false: libraries only
  std::string problem{};                                 ///< methods that solve different problems are not compared
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
};

struct Variant {
  std::string algorithm, method;
  Model model;
  std::function<std::unique_ptr<Prepared>(const Problem&, const Context&)> prepare;
  std::string obstacle{};                ///< why it cannot run here, where that is known beforehand
  std::map<Dtype, std::string> units{};  ///< where it computes in another unit than its method
};

/// The only global of the project: what the object files of this executable have registered.
struct Registry {
  std::vector<Algorithm> algorithms;
  std::vector<Variant> variants;
  [[nodiscard]] const Algorithm* algorithm(std::string_view name) const;
  [[nodiscard]] const Variant* variant(std::string_view algorithm, std::string_view method,
                                       std::string_view model) const;
};
Registry& registry();

struct RegisterAlgorithm {
  explicit RegisterAlgorithm(Algorithm algorithm);
};

/// `const Register<Knn> variant{"fused", cuda::model, prepare};` beside the kernel. P has a static `algorithm` name.
template <class P>
struct Register {
  Register(std::string method, Model model, std::unique_ptr<Prepared> (*prepare)(const P&, const Context&)) {
    registry().variants.push_back(
        {P::algorithm, std::move(method), model, [prepare](const Problem& problem, const Context& context) {
           return prepare(static_cast<const P&>(problem), context);
         }});
  }
};

}  // namespace league
