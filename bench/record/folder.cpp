// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/record/folder.hpp"

#include <iostream>
#include <sstream>

#include "bench/errors.hpp"
#include "bench/files.hpp"
#include "bench/record/record.hpp"
#include "bench/record/report_lines.hpp"

namespace league::bench {
namespace {

namespace fs = std::filesystem;

/// A folder, made if it is not there.
fs::path made(fs::path folder) {
  make_folder(folder);
  return folder;
}

/// The cases that a record has rows of. A search has a row per launch: the automatic one represents the case.
std::vector<std::string> cases_of(const Json& record) {
  std::vector<std::string> names;
  std::ostringstream unread;
  print_all(BenchmarkFlags::Format::csv, {record}, unread);  // throws if a row lacks a key, like the next line
  for (const Json& row : record.at("benchmarks")) {
    static_cast<void>(case_line(row));
    const bool tried = row.value("tuning", false) && row.at("launch").at("requested") != label(Launch{});
    if (!tried) names.push_back(row.at("name").get<std::string>());
  }
  return names;
}

/// Why a record does not belong to a comparison of a run; empty if it does.
std::string mismatch(const Json& record, const Comparison& comparison, const std::string& run_id) {
  std::vector<std::string> wanted;
  for (const Case& that : comparison.cases) wanted.push_back(that.name);
  try {
    if (record.at("context").at("league").value("run_id", "") != run_id) return "is a record of another run";
    return cases_of(record) == wanted ? "" : "has other rows than the study";
  } catch (const Json::exception& error) {
    return std::string("is damaged (") + error.what() + ")";
  }
}

}  // namespace

RecordFolder::RecordFolder(fs::path folder, const Json& manifest, const Study& study, bool resume)
    : folder_(made(std::move(folder))), lock_(folder_) {
  Json now = Json::parse(text_of(manifest));  // read back: what is not UTF-8 is replaced in both
  FolderFiles there = look_into(folder_);
  if (!there.conflicts.empty() && !resume)
    throw BadInput(there.conflicts.front() +
                   ". It is in the way of a new run: give another folder with --records, or move it elsewhere. Nothing "
                   "was removed");
  if (!there.conflicts.empty()) refuse_resume(there.conflicts.front() + ". Mend it or move it elsewhere");
  const std::vector<fs::path> unfinished = there.unfinished;
  const bool begun = there.manifest || !there.records.empty();
  if (resume && !begun) std::cerr << "league: nothing to resume in '" << folder_.string() << "': starting anew\n";
  if (resume && begun)
    go_on(std::move(there), now, study);
  else
    begin(there, std::move(now));
  for (const fs::path& file : unfinished) fs::remove(file);
}

void RecordFolder::begin(const FolderFiles& there, Json manifest) {
  run_id_ = new_id();
  manifest["run_id"] = run_id_;
  NewFile file(folder_ / manifest_name, text_of(manifest, 2) + "\n");  // written before anything is removed
  if (!there.records.empty())
    std::cerr << "league: removes " << there.records.size() << " records of an earlier run from '" << folder_.string()
              << "'\n";
  for (const auto& [old, record] : there.records) fs::remove(old);
  file.put_in_place();
}

void RecordFolder::go_on(FolderFiles there, const Json& manifest, const Study& study) {
  if (!there.manifest)
    refuse_resume(std::string("it holds records, but ") + manifest_name +
                  ", which says what they are of, is lost or empty. Give another folder with --records; without "
                  "--resume a new run removes these records");
  if (const std::string what = difference(*there.manifest, manifest); !what.empty())
    refuse_resume(what + ". Run without --resume to start anew");
  const Json id = there.manifest->value("run_id", Json());
  if (!id.is_string())
    refuse_resume(std::string("its ") + manifest_name + " has no run_id. Run without --resume to start anew");
  run_id_ = id.get<std::string>();
  std::map<std::string, std::size_t> numbers;
  for (std::size_t i = 0; i < study.comparisons.size(); ++i) numbers[record_name(i, study.comparisons[i].name)] = i;
  for (auto& [file, record] : there.records) {
    const auto number = numbers.find(file.filename().string());
    const std::string what = number == numbers.end() ? "is of no comparison of the study"
                                                     : mismatch(record, study.comparisons[number->second], run_id_);
    if (!what.empty())
      refuse_resume("'" + file.string() + "' " + what + ". Move it elsewhere: its comparison is then measured again");
    found_.emplace(number->second, std::move(record));
  }
}

void RecordFolder::refuse_resume(const std::string& why) const {
  throw BadInput("cannot resume the run in '" + folder_.string() + "': " + why);
}

std::optional<Json> RecordFolder::find(std::size_t number) const {
  const auto found = found_.find(number);
  return found == found_.end() ? std::nullopt : std::optional(found->second);
}

void RecordFolder::write(std::size_t number, const std::string& comparison, const Json& record) const {
  write_whole(folder_ / record_name(number, comparison), text_of(record, 1) + "\n");
}

}  // namespace league::bench
