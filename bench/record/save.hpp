// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <string>

#include "bench/study/case.hpp"

namespace league::bench {

/// Where a run saves what its cases compute, and from what: for each case a folder, named as the case with `,` for `/`,
/// with a NumPy file an array (`input_<name>.npy` for inputs) and, written last, `case.json`, which names the files and
/// the run that they are of.
struct SaveFolders {
  std::filesystem::path results, inputs;  ///< empty: not wanted
  std::string run_id;

  [[nodiscard]] bool wanted() const { return !results.empty() || !inputs.empty(); }
  void save(const Case& that, const Outputs& input_arrays, const Outputs& outputs) const;
  /// Whether all that is wanted of a case has been saved by this run.
  [[nodiscard]] bool has(const Case& that, const Problem& problem) const;
};

}  // namespace league::bench
