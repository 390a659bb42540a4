// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <type_traits>

#include "backends/array.hpp"

/// The worker: a program made of the user's kernel, what calls it (bench/try/template.cpp) and the files in this
/// folder.
namespace league::own {

/// The arguments of one call, by name.
struct Call {
  struct Array {
    void* data;
    Dtype dtype;
  };
  Dtype dtype = Dtype::f32;
  std::map<std::string, Array, std::less<>> arrays{};
  std::map<std::string, double, std::less<>> numbers{};  ///< integers up to 2^53 too

  /// @throws Unsupported if the array has another type than the function takes
  template <class T>
  [[nodiscard]] T* array(const char* name) const {
    require(name, dtype_of<std::remove_const_t<T>>);
    return static_cast<T*>(arrays.find(name)->second.data);
  }
  [[nodiscard]] std::int64_t integer(const char* name) const { return static_cast<std::int64_t>(real(name)); }
  [[nodiscard]] double real(const char* name) const { return numbers.find(name)->second; }
  void require(const char* name, Dtype wanted) const;
};

/// The user has no function for this type. @throws Unsupported
[[noreturn]] void refuse(const Call& call);

/// Calls the user's function. @param queue a cudaStream_t or a Kokkos::DefaultExecutionSpace
void run(const Call& call, const void* queue);

}  // namespace league::own
