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

/// A folder of records: `run.json`, which says what is being run, and one file a comparison, there whole or not at all.
/// One run at a time works in it.
class RecordFolder {
 public:
  /// Begins a run: records of an earlier one are removed; or, with `resume`, goes on with it.
  /// @throws BadInput before anything is removed: if another run works there, if a file is in the way that is not
  /// provably a record, or if what was begun there is not this run, naming the difference or the file
  RecordFolder(std::filesystem::path folder, const Json& manifest, const Study& study, bool resume);

  /// The id of the run: in `run.json`, and under "context", "league" in each of its records. Launches that resume a run
  /// share it.
  [[nodiscard]] const std::string& run_id() const { return run_id_; }
  /// The record of a comparison of the study, if an interrupted run has got as far.
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
