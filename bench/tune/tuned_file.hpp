// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <compare>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "bench/study/case.hpp"

namespace league::bench {

/// What a launch was tuned for: a variant on a problem. Includes the parameters that are choices or
/// integers; real numbers and seeds do not affect the time.
struct TunedKey {
  std::string algorithm, dtype;
  int devices = 1;
  std::vector<std::pair<std::string, std::int64_t>> sizes;
  std::vector<std::pair<std::string, std::string>> parameters;
  std::string method, execution = "stream", model, communicator;
  auto operator<=>(const TunedKey&) const = default;
};
TunedKey key_of(const Case& that);

/// What a search found for one variant.
struct TunedEntry {
  TunedKey key;
  std::string search;   ///< its id
  std::string skipped;  ///< why the variant could not run at all; then there is no launch
  Launch automatic;     ///< the method's own choice, as carried out
  double automatic_s = 0;
  Launch best;  ///< as requested; all 0: no launch was faster than the automatic one
  double best_s = 0;
  int candidates = 0, refused = 0, failed = 0;
};

/// Provenance of entries: id, and keys with their values ("driver", "kokkos", "git").
struct TunedSearch {
  std::string id;  ///< begins with the date: later ones are greater
  std::vector<std::pair<std::string, std::string>> facts;
};

/// The tuned launches of one device, as the file `configs/tuned/<device>.toml` holds them.
class TunedFile {
 public:
  /// An empty one where there is no such file.
  /// @throws BadInput naming file, line and key of what is wrong
  static TunedFile read(const std::filesystem::path& file, const DeviceInfo& device);

  /// New entries replace old ones of the same key; searches without entries are removed.
  void merge(const TunedSearch& search, std::vector<TunedEntry> entries);
  /// Reads the file, merges and writes it under a lock, so that concurrent searches do not overwrite each other.
  /// @throws BadInput as `read`
  static void update(const std::filesystem::path& file, const DeviceInfo& device, const TunedSearch& search,
                     std::vector<TunedEntry> entries);
  /// Atomic; equal contents give equal bytes.
  void write(const std::filesystem::path& file) const;

  [[nodiscard]] const std::vector<TunedEntry>& entries() const { return entries_; }
  [[nodiscard]] const std::vector<TunedSearch>& searches() const { return searches_; }
  /// A note on old names in the file; empty if there are none.
  [[nodiscard]] const std::string& note() const { return note_; }
  [[nodiscard]] std::string text() const;

 private:
  std::string device_;
  std::vector<TunedSearch> searches_;
  std::vector<TunedEntry> entries_;
  std::string note_;
};

/// "NVIDIA H200"; "Intel Xeon, 16 threads": launches on a host depend on its threads.
std::string device_label(const DeviceInfo& device);
/// "nvidia_h200.toml"
std::string tuned_file_name(const DeviceInfo& device);

}  // namespace league::bench
