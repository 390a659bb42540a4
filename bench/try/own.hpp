// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

#include "backends/python/process.hpp"
#include "bench/json.hpp"
#include "bench/study/study.hpp"

/// `league try FILE --as ALGORITHM`: kernels of the user's own, beside all others of a study.
namespace league::bench {

/// What the command line asks for.
struct OwnOptions {
  std::vector<std::filesystem::path> files;
  std::string algorithm;
  int limit_s = 60;  ///< of one call of the function
  bool sanitize = false, compile = true;
  bool isolate = false;        ///< without network and home folder
  std::filesystem::path root;  ///< the folder that holds algorithms/
};

/// The folder of the sources: where they were, else that above the build folder.
std::filesystem::path project_root();
/// try/ in the build folder, for what `league try` makes.
std::filesystem::path own_folder();

/// Compiles the files and registers each as a method of its own: that of "mine.cu" is `mine`, its model `your_cuda`.
/// @returns for the record: files and their hashes, and as "isolated" what they do without, where that was asked for
/// @throws BadInput with the message of the compiler
Json enter_own(const OwnOptions& options, const python::Interpreter& peers, const Runtime& runtime);

/// Leaves the comparisons of their algorithm's usual problem, and adds a case for each file to them.
/// @throws BadInput if none is left
void add_own_cases(Study& study, const OwnOptions& options, const Runtime& runtime);

/// A table of each comparison: fastest first, with the times over that of the fastest kernel of the user's own, then
/// what failed, then why own kernels did not run.
void print_own_table(const std::vector<Json>& records, std::ostream& out);

}  // namespace league::bench
