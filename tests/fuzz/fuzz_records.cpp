// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/errors.hpp"
#include "bench/record/folder.hpp"
#include "bench/record/record.hpp"
#include "bench/record/report_lines.hpp"
#include "tests/bench/temporary.hpp"
#include "tests/fuzz/target.hpp"

// The folder of an interrupted run that is resumed: what run.json and the first record hold, a zero byte between them.
// What is refused stays as it is; what is taken is printed.
namespace league::bench {
namespace {

namespace fs = std::filesystem;

const Json manifest = {
    {"study", "s"},        {"executable", "1"}, {"devices", {{{"name", "cpu"}, {"other_processes", 0}}}},
    {"cases", {"a", "b"}}, {"samples", {3, 3}}, {"data_files", Json::object()},
    {"options", "o"},      {"settings", "2"}};

Study make_study() {
  Study study{.title = "s", .comparisons = {{"x", {}}}};
  for (const char* name : {"a", "b"}) study.comparisons[0].cases.emplace_back().name = name;
  return study;
}

void print(const std::vector<Json>& records) {
  std::ostringstream out;
  static_cast<void>(exit_code(records));
  for (const auto format : {BenchmarkFlags::Format::csv, BenchmarkFlags::Format::json}) print_all(format, records, out);
  for (const Json& row : records.front().at("benchmarks")) out << case_line(row);
}

void feed(const std::string& text) {
  const tests::TemporaryFolder folder;
  const std::size_t end = std::min(text.find('\0'), text.size());
  const std::string first = text.substr(0, end), second = text.substr(std::min(end + 1, text.size()));
  folder.write("run.json", first);
  if (end < text.size()) folder.write("000-x.json", second);
  std::optional<Json> found;
  try {
    found = RecordFolder(folder.path(), manifest, make_study(), true).find(0);
  } catch (const BadInput&) {
    fuzz::require(tests::read_file(folder.path() / "run.json") == first, "run.json of a refused run is changed");
    if (end < text.size())
      fuzz::require(tests::read_file(folder.path() / "000-x.json") == second, "a record of a refused run is changed");
    return;
  }
  if (found) print({*found});
}

std::string record(const std::string& status) {
  Json rows = Json::array();
  for (const char* name : {"a", "b"}) {
    rows.push_back({{"name", name}, {"status", status}, {"reason", "r"}, {"real_time", 2.5}, {"cpu_time", 2.5}});
    rows.back().update({{"iterations", 3}, {"error_message", "r"}, {"tuning", false}});
  }
  return text_of({{"context", {{"league", {{"run_id", "i"}}}}}, {"comparison", "x"}, {"benchmarks", rows}});
}

std::vector<std::string> seeds() {
  Json begun = manifest, other = manifest;
  begun["run_id"] = other["run_id"] = "i";
  other["samples"] = 3;
  const std::string run = text_of(begun) + '\0';
  return {run + record("passed"), run + record("skipped"), run + record("failed"), text_of(other), text_of(begun), ""};
}

std::vector<std::string> words() {
  return {"\"study\"",     "\"executable\"", "\"cases\"",      "\"devices\"",    "\"run_id\"", "\"context\"",
          "\"league\"",    "\"comparison\"", "\"benchmarks\"", "\"name\"",       "\"status\"", "\"reason\"",
          "\"real_time\"", "\"iterations\"", "\"cpu_time\"",   "\"tuning\"",     "\"launch\"", "\"requested\"",
          "\"passed\"",    "\"failed\"",     "\"skipped\"",    "\"data_files\"", "null"};
}

const fuzz::RegisterTarget registered{
    "records",
    {feed,
     seeds,
     {"bench/json.cpp", "bench/record/folder.cpp", "bench/record/folder_files.cpp", "bench/record/report_lines.cpp"},
     words}};

}  // namespace
}  // namespace league::bench
