// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <vector>

#include "bench/cli/options.hpp"
#include "bench/record/record.hpp"
#include "bench/tune/tuned_file.hpp"

namespace league::bench {

/// The result of the search of one variant.
struct TunedVariant {
  std::vector<Result> results;  ///< of all candidates; the automatic launch is the first
  std::size_t best = 0;
  TunedEntry entry;
  /// False where the automatic launch failed: the entry is not kept.
  [[nodiscard]] bool is_sound() const { return results.front().status != Status::failed; }
  /// In one line: the best launch, its time, and what it gains.
  [[nodiscard]] std::string line() const;
};

/// Searches the launches of one case. Errors, also of making the problem, become the result.
/// `before_each` is called before every step. @throws what `before_each` throws
TunedVariant tune_variant(const Case& that, const std::function<const Problem&()>& problem, Runtime& runtime,
                          const Options& options, const std::function<void(const Launch&)>& before_each);

/// The record of a comparison, whose search took `seconds`: one row per candidate, all marked as `tuning`, the best
/// launch of each variant as `best`.
Json tuning_record(const Json& context, const std::string& comparison, const std::vector<TunedVariant>& variants,
                   double seconds);

}  // namespace league::bench
