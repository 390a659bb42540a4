// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/json.hpp"

namespace league::bench {

/// The files of a folder of records that belong to a run. Others (a README, tables, other JSON) are ignored.
struct FolderFiles {
  std::optional<Json> manifest;                   ///< nothing if `run.json` is not there, or empty
  std::map<std::filesystem::path, Json> records;  ///< files with the contents of a record and the name of that record
  std::vector<std::filesystem::path> unfinished;  ///< left over from interrupted writes
  std::vector<std::string> conflicts;             ///< files that a run can neither use nor remove, each with the reason
};

FolderFiles look_into(const std::filesystem::path& folder);

}  // namespace league::bench
