// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/study/renamed.hpp"

#include <algorithm>
#include <array>

#include "bench/study/models.hpp"

namespace league::bench {
namespace {

constexpr std::array<Renamed, 7> renamings{{{"linear_regression", "graph", "", "block_reduce", Execution::graph},
                                            {"logistic_regression", "graph", "", "fused", Execution::graph},
                                            {"softmax_regression", "graph", "", "fused", Execution::graph},
                                            {"polynomial_fit", "graph", "kokkos", "stepwise", Execution::kokkos_graph},
                                            {"polynomial_fit", "graph", "", "stepwise", Execution::graph},
                                            {"polynomial_fit", "kokkos_graph", "", "stepwise", Execution::kokkos_graph},
                                            {"sum", "range_reduce", "", "flat", Execution::stream}}};

bool has_own(const Algorithm& algorithm, std::string_view method) {
  return std::ranges::any_of(algorithm.methods,
                             [&](const Method& one) { return one.name == method && one.own_models; });
}

}  // namespace

std::string_view modern_model(std::string_view name) { return name == "kokkos_blocks" ? "kokkos_specialised" : name; }

std::span<const Renamed> renamed_methods() { return renamings; }

const Renamed* renamed(std::string_view algorithm, std::string_view method, std::string_view model) {
  const Algorithm* known = registry().algorithm(algorithm);
  if (known == nullptr || has_own(*known, method) || !is_own(model)) return nullptr;
  const Renamed* found = nullptr;
  for (const Renamed& one : renamings) {
    const bool meant = one.algorithm == algorithm && one.method == method && has_own(*known, one.now);
    if (meant && (one.model == model || (one.model.empty() && found == nullptr))) found = &one;
  }
  return found;
}

}  // namespace league::bench
