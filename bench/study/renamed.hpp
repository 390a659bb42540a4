// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <span>
#include <string_view>

#include "algorithms/contract/registry.hpp"

namespace league::bench {

/// What was a method in records, studies and tuned files before executions were an axis. Peers kept their methods.
/// bench/report/renamed.py holds the same table.
struct Renamed {
  std::string_view algorithm, method;
  std::string_view model;  ///< empty: the models that the others do not name
  std::string_view now;    ///< the method
  Execution execution;
};
std::span<const Renamed> renamed_methods();

/// What an old method of a model is now; null where the name is not old: the algorithm still has such a method for
/// models of ours, or never had.
const Renamed* renamed(std::string_view algorithm, std::string_view method, std::string_view model);

}  // namespace league::bench
