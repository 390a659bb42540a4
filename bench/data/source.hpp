// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace league::bench {

/// Images and their labels, gzipped or plain: the files PART-images-idx3-ubyte and PART-labels-idx1-ubyte, or PART.bin.
struct SourcePart {
  std::string name;                          ///< "train" or "t10k"; "data_batch_1"
  std::vector<std::uint8_t> first_labels{};  ///< of the published file, where other sources have files of this name
};

/// Files as they are published. MNIST's and Fashion-MNIST's have the same names: the folder distinguishes them, and the
/// first labels reveal a wrong folder.
struct Source {
  enum class Format { idx, cifar };
  std::string name;  ///< "Fashion-MNIST"
  Format format = Format::idx;
  std::vector<std::string> folders;  ///< common names of folders of these files
  std::filesystem::path installed;   ///< folder of a system package; empty: there is none
  std::string advice;                ///< other ways to get them: the end of a sentence; or empty
  std::vector<SourcePart> parts;     ///< in the order in which they are put together
};

/// The source of a dataset that is read from files.
const Source& source_of(const std::string& dataset);

/// Looks for a file in `folder`, where one is given: in it, if its name fits the source (Fashion-MNIST's has "fashion"
/// in it, MNIST's has not, CIFAR-10's is any), then in its sub-folders of the names of the source. Empty: in
/// LEAGUE_DATA likewise, then in the usual places.
/// @throws BadInput saying where it looked and what to do
std::filesystem::path find_file(const Source& source, const std::filesystem::path& folder, const std::string& name);

/// @throws BadInput if the labels begin as those of another source do
void require_labels_of(const Source& source, const std::string& part, std::span<const std::uint8_t> labels,
                       const std::filesystem::path& file);

}  // namespace league::bench
