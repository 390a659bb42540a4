// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <map>
#include <memory_resource>
#include <optional>

#include "algorithms/contract/registry.hpp"
#include "bench/data/source.hpp"
#include "bench/study/case.hpp"

namespace league::bench {

/// The datasets of a run. Files are read at first use.
class Datasets {
 public:
  /// `folder` holds the files or their folders; empty: the usual places are looked through (`find_file`). `memory` must
  /// outlive all datasets.
  /// Without `reads_files` a study can be looked at where no files are: sizes that only they say are 1.
  Datasets(std::filesystem::path folder, std::pmr::memory_resource& memory, bool reads_files = true)
      : folder_(std::move(folder)), memory_(memory), reads_files_(reads_files) {}

  /// Reads the files of a dataset that has some. @throws BadInput if they are missing or wrong
  void load(const Selection& selection);
  /// The selection with its sizes filled in. @throws BadInput if the dataset has fewer rows
  [[nodiscard]] Selection resolve(Selection selection);
  /// The rows of a resolved selection; the last selection is cached.
  const Dataset& rows(const Selection& selection);
  /// Hashes of the files that were read, by source and name: "mnist/t10k-labels-idx1-ubyte.gz".
  [[nodiscard]] const std::map<std::string, std::string>& hashes() const { return hashes_; }

 private:
  struct Labelled {
    HostArray images, labels;    ///< u8 [rows x features], i32 [rows]
    std::int64_t test_rows = 0;  ///< the last rows, where the dataset has a test set of its own
  };
  const Labelled& labelled(const std::string& name);
  /// Rows of the whole test set.
  std::int64_t test_rows(const Selection& selection);
  void require_unchanged(const Source& source, const std::filesystem::path& file);
  Dataset select(const Selection& selection);

  std::filesystem::path folder_;
  std::pmr::memory_resource& memory_;
  bool reads_files_;
  std::map<std::string, std::string> hashes_;
  std::string loaded_name_;
  Labelled loaded_;
  Selection kept_selection_;
  std::optional<Dataset> kept_;
};

}  // namespace league::bench
