// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/json.hpp"

namespace league::bench {

/// What of a folder of records concerns a run. All else there (a README, tables, JSON of others) is left alone.
struct FolderFiles {
  std::optional<Json> manifest;                   ///< nothing if `run.json` is not there, or empty
  std::map<std::filesystem::path, Json> records;  ///< files with the contents of a record and the name of that record
  std::vector<std::filesystem::path> unfinished;  ///< what interrupted writes left
  std::vector<std::string> obstacles;             ///< files that a run can neither use nor remove, each with the reason
};

FolderFiles look_into(const std::filesystem::path& folder);

}  // namespace league::bench
