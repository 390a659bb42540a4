// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <compare>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "bench/study/case.hpp"

namespace league::bench {

/// What a launch was tuned for: a variant on a problem. Of an algorithm's own parameters those count that are choices
/// or integers; real numbers and seeds do not change what a launch is worth.
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
  Launch best;  ///< as requested; nothing requested: the automatic launch was the best, or no worse than it
  double best_s = 0;
  int candidates = 0, refused = 0, failed = 0;
};

/// Who found entries, when and with what: id, and keys with their values ("driver", "kokkos", "git").
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

  /// Entries measured anew replace the old ones of the same key; searches of which no entry is left go.
  void merge(const TunedSearch& search, std::vector<TunedEntry> entries);
  /// Reads the file, merges, and writes it, while no other process does: searches of the same device, side by side on
  /// several of them, lose nothing of each other. @throws BadInput as `read`
  static void update(const std::filesystem::path& file, const DeviceInfo& device, const TunedSearch& search,
                     std::vector<TunedEntry> entries);
  /// There whole or not at all; equal contents give equal bytes.
  void write(const std::filesystem::path& file) const;

  [[nodiscard]] const std::vector<TunedEntry>& entries() const { return entries_; }
  [[nodiscard]] const std::vector<TunedSearch>& searches() const { return searches_; }
  /// What the file should say today; empty if nothing is old in it.
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
