// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <span>
#include <string_view>

#include "algorithms/contract/registry.hpp"

namespace league::bench {

/// Old names in records, studies and tuned files: of methods, from before executions were an axis (those of peers kept
/// theirs), and of a model. bench/report/migrate/names.py has the same table.
struct Renamed {
  std::string_view algorithm, method;
  std::string_view model;  ///< empty: the models that the others do not name
  std::string_view now;    ///< the method
  Execution execution;
};
std::span<const Renamed> renamed_methods();

/// The name of a model today: `kokkos_blocks` became `kokkos_specialised`.
std::string_view modern_model(std::string_view name);

/// The new name of a method of a model; null if the name is not an old one.
const Renamed* renamed(std::string_view algorithm, std::string_view method, std::string_view model);

}  // namespace league::bench
