// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace league::bench {

/// A worker program to be made by the commands of this build (bench/try/try.cmake).
struct Compilation {
  std::filesystem::path script;   ///< try/kokkos.sh in the build folder
  std::filesystem::path source;   ///< what calls the user's function, and includes the file
  std::filesystem::path program;  ///< the result
  std::string file;               ///< the user's, for the message
  std::vector<std::string> flags{}, linked{};
};

/// @throws BadInput with the compiler's message, or if this build cannot compile that language
void compile(const Compilation& what);

}  // namespace league::bench
