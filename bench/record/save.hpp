// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>

#include "bench/study/case.hpp"

namespace league::bench {

/// Writes what a case computed: a folder under `folder`, named as the case with `,` for `/`, with `case.json` and one
/// NumPy file an output.
void save_results(const std::filesystem::path& folder, const Case& that, const Outputs& outputs);

/// The same with the inputs, as `input_<name>.npy`.
void save_inputs(const std::filesystem::path& folder, const Case& that, const Problem& problem);

}  // namespace league::bench
