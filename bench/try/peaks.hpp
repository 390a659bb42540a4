// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <optional>

#include "bench/json.hpp"
#include "bench/study/study.hpp"

/// The peaks that a study of own kernels needs (bench/record/floors.hpp): measured once per machine and build.
namespace league::bench {

/// Puts comparisons of `ceilings` before the others: bandwidths at as many bytes as their problems have, and the rates
/// of the units that could solve them.
void add_peaks(Study& study, const Runtime& runtime, Datasets& datasets);

/// Records of `ceilings` in a folder of this machine and executable.
class KeptPeaks {
 public:
  explicit KeptPeaks(const Runtime& runtime);
  /// The rows of a comparison, if an earlier run measured them and all passed.
  [[nodiscard]] std::optional<Json> find(const Comparison& comparison) const;
  void keep(const Comparison& comparison, const Json& rows) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace league::bench
