// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/measure/null_test.hpp"

#include <algorithm>
#include <tuple>

#include "backends/model.hpp"
#include "bench/study/models.hpp"

namespace league::bench {
namespace {

/// Whether a null test can repeat a case: one of League's own kernels that runs here.
bool is_candidate(const Case& that) { return is_own(that.model) && that.skip.empty(); }

/// Order of preference: parallel before serial, native before portable, GPU before host, then the order of lists.
auto rank(const Case& that) {
  const ModelFacts& facts = *model_facts(that.model);
  return std::tuple(facts.kind == ModelKind::reference, facts.portable, facts.device == DeviceKind::host, facts.order);
}

/// The case to repeat; null if the comparison has none.
const Case* subject_of(const Comparison& comparison) {
  const Case* best = nullptr;
  for (const Case& that : comparison.cases)
    if (is_candidate(that) && (best == nullptr || rank(that) < rank(*best))) best = &that;
  return best;
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
