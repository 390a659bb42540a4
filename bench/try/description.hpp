// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

/// What a kernel of the user's own is called with, and the naive kernel of its templates: one file per algorithm.
namespace league::bench {

/// An argument of the function, in the order inputs, outputs, scratch, sizes, numbers.
struct Argument {
  enum class Role { input, output, scratch, size, number };
  Role role;
  std::string type;      ///< "T": that of the elements; f32, f64, i32, i64, u8
  std::string name;      ///< in the function
  std::string shape{};   ///< of an array, for people: "[n x dimension]"
  std::string source{};  ///< array of the problem (of scratch: of the same shape; of a size: with that extent); key of
                         ///< a number
  int dimension = 0;     ///< of a size: which extent

  [[nodiscard]] bool is_array() const { return role < Role::size; }
};

/// algorithms/<name>/template.toml.
struct Description {
  struct Kernel {
    std::string name, range, body;  ///< `body` runs for each i of [0, range)
  };
  std::string algorithm, does;
  std::vector<Argument> arguments{};
  std::map<std::string, std::string> only{};  ///< parameters that it supports at one value
  std::vector<std::string> locals{};          ///< of `solve` that kernels use: "std::int64_t step"
  std::vector<Kernel> kernels{};
  std::string solve, python;  ///< `solve`: C++, in which a line "@add" launches that kernel

  [[nodiscard]] std::vector<Argument> arguments_of(Argument::Role role) const;
};

/// @param root the folder that holds algorithms/
/// @throws BadInput naming the algorithms that have one, or what is wrong in the file
Description read_description(const std::filesystem::path& root, const std::string& algorithm);

/// "float" of "f32", `element` of "T".
std::string cpp_type(const std::string& type, const std::string& element);

/// "const float* train": as a parameter of the function.
std::string declared(const Argument& argument, const std::string& element);

enum class Language { cuda, kokkos, python };
/// ".cu", ".cpp", ".py". @throws BadInput for any other file
Language language_of(const std::filesystem::path& file);
/// "cuda", "kokkos", "python".
Language language_named(const std::string& name);

/// The arguments of a function in Python: inputs, sizes that no input has, numbers. It returns the outputs.
std::vector<Argument> python_arguments(const Description& description);

/// A naive kernel to begin with, as a file of its own.
std::string template_text(const Description& description, Language language);

/// C++ that includes the user's file and calls its function from the worker (bench/try/worker).
std::string caller_text(const Description& description, Language language, const std::filesystem::path& file);

/// "void knn(const T* train, ..., std::int64_t k, cudaStream_t stream)".
std::string signature(const Description& description, Language language, const std::string& element);

}  // namespace league::bench
