// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/measure/null_test.hpp"

#include <algorithm>

#include "bench/study/models.hpp"

namespace league::bench {
namespace {

/// The case to repeat; null if the comparison has none.
const Case* subject_of(const Comparison& comparison) {
  for (const char* model : {"cuda", "hip", "openmp", "kokkos", "serial"}) {
    const auto found = std::ranges::find_if(comparison.cases,
                                            [&](const Case& that) { return that.model == model && that.skip.empty(); });
    if (found != comparison.cases.end()) return &*found;
  }
  const auto own =
      std::ranges::find_if(comparison.cases, [](const Case& that) { return is_own(that.model) && that.skip.empty(); });
  return own == comparison.cases.end() ? nullptr : &*own;
}

}  // namespace

void add_null_tests(Study& study) {
  for (Comparison& comparison : study.comparisons) {
    const Case* subject = comparison.null_test ? subject_of(comparison) : nullptr;
    if (subject == nullptr) continue;
    Case again = *subject;
    again.repeats = subject->name;
    again.name += "/null:1";
    comparison.cases.push_back(std::move(again));
  }
}

void drop_lone_null_tests(Study& study) {
  for (Comparison& comparison : study.comparisons) {
    if (comparison.cases.empty() || comparison.cases.back().repeats.empty()) continue;
    const std::string& repeated = comparison.cases.back().repeats;
    if (std::ranges::find(comparison.cases, repeated, &Case::name) == comparison.cases.end())
      comparison.cases.pop_back();
  }
}

}  // namespace league::bench
