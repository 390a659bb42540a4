// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "algorithms/contract/registry.hpp"
#include "bench/study/value.hpp"

namespace league::bench {

/// A key and its value from the command line: `--set [ALGORITHM.]KEY=VALUE`, or an option that stands for one.
struct Assignment {
  std::string key;
  Value value;
};

/// @throws BadInput if it is not KEY=VALUE
Assignment read_assignment(const std::string& text);

/// The values in force for one algorithm in one table of a study; keys that are absent are at their defaults.
struct Settings {
  const Algorithm* algorithm = nullptr;
  Value::Table values;
  bool drawn = false;  ///< the sizes are a shape that was drawn
};

/// Reads a study: each `[[cases]]` table (or the whole file, if there is none), with the top level as its defaults and
/// the assignments on top, once for every algorithm that it names.
/// @throws BadInput for a key that its algorithm does not have, naming the nearest one that it has
std::vector<Settings> read_settings(const std::filesystem::path& file, std::span<const Assignment> assignments);

}  // namespace league::bench
