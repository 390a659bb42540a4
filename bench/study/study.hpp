// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "bench/data/dataset.hpp"
#include "bench/study/case.hpp"
#include "bench/study/settings.hpp"

namespace league::bench {

/// The product of the lists in a study file, as comparisons in the order of the file.
struct Study {
  std::string title;  ///< the file's name without its ending
  std::vector<Comparison> comparisons;
  std::vector<std::string> notes{};  ///< to the user: renamed keys and values
};

/// Whether a case asks for more devices than its model has here.
bool lacks_devices(const Runtime& runtime, const Case& that);

/// Why a case cannot run here, as far as known before the run; empty if it can.
std::string known_skip_reason(const Runtime& runtime, const Case& that);

/// Reads a study and the sizes of the datasets that it names.
/// @throws BadInput naming file, line and key
Study read_study(const std::filesystem::path& file, std::span<const Assignment> assignments, const Runtime& runtime,
                 Datasets& datasets);

}  // namespace league::bench
