// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <string>

#include "bench/study/case.hpp"

namespace league::bench {

/// Folders for the results and inputs of the cases of a run: a folder per case, named as the case with `,` for `/`,
/// with a NumPy file per array (`input_<name>.npy` for inputs) and `case.json`, written last, which lists the files and
/// names the run.
struct SaveFolders {
  std::filesystem::path results, inputs;  ///< empty: not wanted
  std::string run_id;

  [[nodiscard]] bool wanted() const { return !results.empty() || !inputs.empty(); }
  void save(const Case& that, const Outputs& input_arrays, const Outputs& outputs) const;
  /// Whether this run has saved all wanted arrays of a case.
  [[nodiscard]] bool has(const Case& that, const Problem& problem) const;
};

}  // namespace league::bench
