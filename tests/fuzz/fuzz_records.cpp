// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cctype>
#include <cstring>

#include "bench/errors.hpp"
#include "bench/record/folder.hpp"
#include "bench/record/record.hpp"
#include "bench/record/report_lines.hpp"
#include "tests/bench/temporary.hpp"
#include "tests/fuzz/target.hpp"

// The folder of a run: what run.json and a file beside it hold, the name of that file, and whether the run goes on.
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

/// What a name of a file may be made of, as much of it as there is.
std::string file_name(const std::string& text) {
  std::string name;
  for (const char c : text.substr(0, 40))
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || std::strchr(".,:-", c) != nullptr) name += c;
  return name.find_first_not_of('.') == std::string::npos || name == ".league-lock" ? "000-x.json" : name;
}

/// run.json, a record, the name of that file, and whether a run goes on there, with a NUL between them.
void feed(const std::string& text) {
  const tests::TemporaryFolder folder;
  std::vector<std::string> parts{""};
  for (const char c : text)
    if (c == '\0' && parts.size() < 4)
      parts.emplace_back();
    else
      parts.back() += c;
  const std::string name = file_name(parts.size() > 2 ? parts[2] : "");
  fuzz::require(!read_json(folder.path() / name), "a file that is not there is read");
  folder.write("run.json", parts[0]);
  if (parts.size() > 1 && name != "run.json") folder.write(name, parts[1]);
  std::optional<Json> found;
  try {
    found = RecordFolder(folder.path(), manifest, make_study(), parts.size() < 4).find(0);
  } catch (const BadInput&) {
    fuzz::require(tests::read_file(folder.path() / "run.json") == parts[0], "run.json of a refused run is changed");
    if (parts.size() > 1 && name != "run.json")
      fuzz::require(tests::read_file(folder.path() / name) == parts[1], "a record of a refused run is changed");
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
  const std::string passed = run + record("passed") + '\0';
  return {run + record("passed"),
          run + record("skipped"),
          run + record("failed"),
          text_of(other),
          text_of(begun),
          passed + "001-x.json",
          passed + "a.json",
          passed + ".hidden.json",
          passed + "000-x.json.gz",
          passed + "000-x.json" + '\0',
          std::string(1, '\0') + record("passed"),
          ""};
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
