// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/record/save.hpp"

#include <algorithm>

#include "bench/data/npy.hpp"
#include "bench/files.hpp"
#include "bench/record/record.hpp"

namespace league::bench {
namespace {

namespace fs = std::filesystem;
constexpr const char* case_file = "case.json";
constexpr const char* input_prefix = "input_";

bool lists(const Json& files, const std::string& name) { return std::ranges::find(files, Json(name)) != files.end(); }

/// The arrays of a case in one of the folders.
struct CaseFolder {
  fs::path path;
  std::string run_id;

  /// The files that `case.json` lists, if it is of this run.
  [[nodiscard]] Json files() const {
    const std::optional<Json> json = read_json(path / case_file);
    const bool ours = json && json->is_object() && json->value("run_id", Json()) == run_id;
    return ours ? json->value("files", Json::array()) : Json::array();
  }
  [[nodiscard]] bool has(const Outputs& arrays, const std::string& prefix) const {
    return std::ranges::all_of(arrays, [this, &prefix, saved = files()](const Output& array) {
      const std::string name = prefix + array.name + ".npy";
      return lists(saved, name) && fs::exists(path / name);
    });
  }
  void save(const Case& that, const Outputs& arrays, const std::string& prefix) const {
    Json saved = files();
    make_folder(path);
    fs::remove(path / case_file);
    for (const Output& array : arrays) {
      const std::string name = prefix + array.name + ".npy";
      write_npy(path / name, array.values);
      if (!lists(saved, name)) saved.push_back(name);
    }
    Json json = case_json(that);
    json["run_id"] = run_id;
    json["files"] = saved;
    write_whole(path / case_file, text_of(json, 2) + "\n");
  }
};

}  // namespace

void SaveFolders::save(const Case& that, const Outputs& input_arrays, const Outputs& outputs) const {
  const std::string name = file_name(that.name);
  if (!results.empty()) CaseFolder{results / name, run_id}.save(that, outputs, "");
  if (!inputs.empty()) CaseFolder{inputs / name, run_id}.save(that, input_arrays, input_prefix);
}

bool SaveFolders::has(const Case& that, const Problem& problem) const {
  const std::string name = file_name(that.name);
  const auto has_results = [&] {
    return CaseFolder{results / name, run_id}.has(
        problem.make_outputs({0, problem.extent()}, *std::pmr::new_delete_resource()), "");
  };
  const auto has_inputs = [&] { return CaseFolder{inputs / name, run_id}.has(problem.inputs(), input_prefix); };
  return (results.empty() || has_results()) && (inputs.empty() || has_inputs());
}

}  // namespace league::bench
