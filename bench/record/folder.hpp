// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "bench/record/folder_files.hpp"
#include "bench/record/manifest.hpp"
#include "bench/record/run_lock.hpp"

namespace league::bench {

/// A folder of records: `run.json`, which describes the run, and one file per comparison, complete or absent. One run
/// at a time writes to it.
class RecordFolder {
 public:
  /// Begins a run and removes records of an earlier one; with `resume`, continues the run there.
  /// @throws BadInput before anything is removed: if another run writes there, if a file would be replaced that is not
  /// certainly a record, or if the run to resume is another one, naming the difference or the file
  RecordFolder(std::filesystem::path folder, const Json& manifest, const Study& study, bool resume);

  /// The id of the run: in `run.json`, and under "context", "league" in each of its records. Launches that resume a run
  /// share it.
  [[nodiscard]] const std::string& run_id() const { return run_id_; }
  /// The record of a comparison of the study, if the resumed run has one.
  [[nodiscard]] std::optional<Json> find(std::size_t number) const;
  void write(std::size_t number, const std::string& comparison, const Json& record) const;

 private:
  void begin(const FolderFiles& there, Json manifest);
  void go_on(FolderFiles there, const Json& manifest, const Study& study);
  [[noreturn]] void refuse_resume(const std::string& why) const;

  std::filesystem::path folder_;
  RunLock lock_;
  std::string run_id_;
  std::map<std::size_t, Json> found_;  ///< the records of the run that is resumed, by number
};

}  // namespace league::bench
