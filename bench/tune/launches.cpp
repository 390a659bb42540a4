// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/tune/launches.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <ostream>
#include <set>

#include "bench/errors.hpp"
#include "bench/files.hpp"
#include "bench/study/models.hpp"

namespace league::bench {
namespace {

constexpr double max_distance = 1;  // powers of two between sizes

/// The largest of the factors between two lists of sizes, as a power of two; infinite where they are not alike.
double size_distance(const TunedKey& a, const TunedKey& b) {
  double largest = 0;
  if (a.sizes.size() != b.sizes.size()) return INFINITY;
  for (std::size_t i = 0; i < a.sizes.size(); ++i) {
    const auto [name, here] = a.sizes[i];
    const auto [other_name, there] = b.sizes[i];
    if (name != other_name || (here == 0) != (there == 0)) return INFINITY;
    if (here > 0)
      largest = std::max(largest, std::abs(std::log2(static_cast<double>(here) / static_cast<double>(there))));
  }
  return largest;
}

bool is_same_but_for_sizes(const TunedKey& a, TunedKey b) {
  b.sizes = a.sizes;
  return a == b;
}

std::string sizes_text(const TunedKey& key) {
  std::string text;
  for (const auto& [name, value] : key.sizes) text += (text.empty() ? "" : ", ") + name + " = " + std::to_string(value);
  return text;
}

std::string variant_text(const TunedKey& key) {
  const std::string execution = key.execution == name(Case{}.execution) ? "" : " " + key.execution;
  return key.method + execution + " in " + key.model;
}

/// Entries of one search and one list of sizes.
struct Group {
  double distance;
  std::string search;
  std::vector<const TunedEntry*> entries;
};

/// All groups within `max_distance`, the nearest first, among equals the latest search.
std::vector<Group> groups_of(const TunedFile& file, const std::vector<TunedKey>& keys) {
  std::vector<Group> groups;
  for (const TunedEntry& entry : file.entries()) {
    const double distance = size_distance(keys.front(), entry.key);
    const bool wanted =
        std::ranges::any_of(keys, [&](const auto& key) { return is_same_but_for_sizes(key, entry.key); });
    if (!wanted || distance > max_distance) continue;
    const auto same = std::ranges::find_if(groups, [&](const Group& group) {
      return group.search == entry.search && group.entries.front()->key.sizes == entry.key.sizes;
    });
    if (same != groups.end())
      same->entries.push_back(&entry);
    else
      groups.push_back({distance, entry.search, {&entry}});
  }
  std::ranges::sort(groups, [](const Group& a, const Group& b) {
    if (a.distance != b.distance) return a.distance < b.distance;
    return a.search != b.search ? a.search > b.search : a.entries.front() < b.entries.front();  // as in the file
  });
  return groups;
}

/// The files of the devices that a study runs on, read at first use.
class Files {
 public:
  struct One {
    std::string name, hash;
    TunedFile content;
  };
  Files(std::filesystem::path folder, const Runtime& runtime, std::ostream& notes)
      : folder_(std::move(folder)), runtime_(runtime), notes_(notes) {}

  /// Null if there is no file for this kind of device.
  const One* find(DeviceKind kind) {
    const auto known = files_.find(kind);
    if (known != files_.end()) return known->second ? &*known->second : nullptr;
    std::optional<One>& one = files_[kind];
    const DeviceInfo& device = runtime_.info({kind, 0});
    const std::filesystem::path file = folder_ / tuned_file_name(device);
    if (std::filesystem::exists(file))
      one = One{tuned_file_name(device), file_hash(file), TunedFile::read(file, device)};
    if (one && !one->content.note().empty()) notes_ << "league: " << one->content.note() << "\n";
    return one ? &*one : nullptr;
  }

 private:
  std::filesystem::path folder_;
  const Runtime& runtime_;
  std::ostream& notes_;
  std::map<DeviceKind, std::optional<One>> files_;
};

bool wants_tuned(const Case& that, LaunchChoice choice) {
  return that.launch_source == LaunchSource::tuned ||
         (that.launch_source == LaunchSource::open && choice == LaunchChoice::tuned && that.threads == 0);
}

void take(Case& that, const TunedEntry& entry, const Files::One& file) {
  that.launch = entry.best;
  that.launch_source = LaunchSource::tuned;
  that.tuning = {file.name, file.hash, entry.search};
}

/// Without a tuned launch, an open one becomes automatic, and one that must be tuned is skipped with the reason.
void leave(Case& that, const std::string& reason) {
  if (that.launch_source == LaunchSource::tuned && that.skip.empty()) that.skip = "no tuned launch: " + reason;
  if (that.launch_source == LaunchSource::open) that.launch_source = LaunchSource::automatic;
}

/// Counts what was tuned, for one line to the user.
struct Count {
  int comparisons = 0, tuned = 0;
  std::string first;  ///< comparison that was not, and why
};

/// The cases of one comparison and kind of device.
void choose(std::vector<Case*> cases, LaunchChoice choice, Files& files, Count& count) {
  std::erase_if(cases, [&](Case* that) {
    const bool chooses = wants_tuned(*that, choice) && is_own(that->model) && that->skip.empty();
    if (!chooses) leave(*that, "a library chooses its own");
    return !chooses;
  });
  if (cases.empty()) return;
  const DeviceKind kind = device_kind(*cases.front());
  const Files::One* file = files.find(kind);
  std::vector<TunedKey> keys;
  for (const Case* that : cases) keys.push_back(key_of(*that));
  const TunedMatch found = file != nullptr ? match(file->content, keys) : TunedMatch{{}, "no file for this device"};
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (found.entries.empty())
      leave(*cases[i], found.reason);
    else
      take(*cases[i], *found.entries[i], *file);
  }
  if (file == nullptr) return;
  ++count.comparisons;
  if (!found.entries.empty()) ++count.tuned;
  if (found.entries.empty() && count.first.empty())
    count.first = cases.front()->comparison + " (" + file->name + "): " + found.reason;
}

void require_unique(const Study& study) {
  std::set<std::string> names;
  for (const Comparison& comparison : study.comparisons)
    for (const Case& that : comparison.cases)
      if (!names.insert(that.name).second)
        throw BadInput("two cases are named " + that.name + ": one has no `launches`, and is tuned as the other");
}

}  // namespace

TunedMatch match(const TunedFile& file, const std::vector<TunedKey>& keys) {
  std::string reason = "no search of such a problem, of these sizes or nearly";
  for (const Group& group : groups_of(file, keys)) {
    TunedMatch found;
    const TunedKey* missing = nullptr;
    for (const TunedKey& key : keys) {
      const auto entry = std::ranges::find_if(
          group.entries, [&](const TunedEntry* one) { return is_same_but_for_sizes(key, one->key); });
      if (entry == group.entries.end()) {
        missing = &key;
        break;
      }
      found.entries.push_back(*entry);
    }
    if (missing == nullptr) return found;
    if (reason.starts_with("no search"))
      reason = variant_text(*missing) + " was not in the search of " + sizes_text(group.entries.front()->key) +
               " with the others";
  }
  return {{}, reason};
}

void choose_launches(Study& study, LaunchChoice choice, const std::filesystem::path& folder, const Runtime& runtime,
                     std::ostream& notes) {
  Files files(folder, runtime, notes);
  Count count;
  for (Comparison& comparison : study.comparisons) {
    if (choice == LaunchChoice::given)
      std::erase_if(comparison.cases, [](const Case& that) { return that.launch_source == LaunchSource::open; });
    std::map<DeviceKind, std::vector<Case*>> by_kind;
    for (Case& that : comparison.cases) by_kind[device_kind(that)].push_back(&that);
    for (const auto& [kind, cases] : by_kind) choose(cases, choice, files, count);
    for (Case& that : comparison.cases) give_names(that);
  }
  std::erase_if(study.comparisons, [](const Comparison& comparison) { return comparison.cases.empty(); });
  require_unique(study);
  if (count.tuned < count.comparisons)
    notes << "league: " << count.tuned << " of " << count.comparisons
          << " comparisons have tuned launches; the others are automatic, the first of them " << count.first << "\n";
}

}  // namespace league::bench
