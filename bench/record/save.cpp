// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/record/save.hpp"

#include "bench/data/npy.hpp"
#include "bench/files.hpp"
#include "bench/record/record.hpp"

namespace league::bench {
namespace {

std::filesystem::path folder_of(const std::filesystem::path& folder, const Case& that) {
  std::filesystem::path own = folder / file_name(that.name);
  make_folder(own);
  write_whole(own / "case.json", text_of(case_json(that), 2) + "\n");
  return own;
}

}  // namespace

void save_results(const std::filesystem::path& folder, const Case& that, const Outputs& outputs) {
  const std::filesystem::path own = folder_of(folder, that);
  for (const Output& output : outputs) write_npy(own / (output.name + ".npy"), output.values);
}

void save_inputs(const std::filesystem::path& folder, const Case& that, const Problem& problem) {
  const std::filesystem::path own = folder_of(folder, that);
  for (const Output& input : problem.inputs()) write_npy(own / ("input_" + input.name + ".npy"), input.values);
}

}  // namespace league::bench
