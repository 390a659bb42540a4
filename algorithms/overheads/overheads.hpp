// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/contract/registry.hpp"

namespace league {

/// What a step costs that computes nothing: each method does one thing `repeats` times; a row is a team, and every team
/// counts. Only what is measured can increase a count, so that the check finds what was left out.
class Overheads final : public Problem {
 public:
  static constexpr const char* algorithm = "overheads";

  explicit Overheads(const Making& making);
  /// Teams.
  [[nodiscard]] std::int64_t extent() const override { return teams; }
  /// None: what is measured is time alone.
  [[nodiscard]] Cost cost() const override { return {}; }
  void make_inputs(Range /*local*/, std::pmr::memory_resource& /*memory*/) override {}
  /// `count` [teams]: `repeats`, all of them.
  [[nodiscard]] Outputs make_outputs(Range local, std::pmr::memory_resource& memory) const override;
  [[nodiscard]] Outputs inputs() const override { return {}; }
  [[nodiscard]] Verdict check(const Outputs& outputs, Reduce& reduce) const override;

  std::int64_t teams;
  int repeats;
  std::int64_t bytes;  ///< of an allocation
};

}  // namespace league
