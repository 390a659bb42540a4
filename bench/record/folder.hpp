// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "bench/record/record.hpp"
#include "bench/study/study.hpp"

namespace league::bench {

/// A folder of records: `run.json`, which says what is being run, and one file a comparison, there whole or not at all.
class RecordFolder {
 public:
  /// Begins a run: records of an earlier one are removed; or, with `resume`, goes on with it.
  /// @throws BadInput if what was begun there differs from `manifest`, naming the difference
  RecordFolder(std::filesystem::path folder, const Json& manifest, bool resume);

  /// The record of a comparison, if an interrupted run has got as far.
  [[nodiscard]] std::optional<Json> find(std::size_t number, const std::string& comparison) const;
  void write(std::size_t number, const std::string& comparison, const Json& record) const;

 private:
  void remove_old() const;
  std::filesystem::path folder_;
  bool resumed_ = false;
};

/// What must be equal for records of two program launches to be one run: study, executable, devices, options.
Json make_manifest(const Study& study, const Runtime& runtime, const Json& options);

/// In words, what differs between two manifests; empty if nothing does.
std::string difference(const Json& before, const Json& now);

}  // namespace league::bench
