// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "algorithms/contract/prepared.hpp"
#include "bench/record/result.hpp"
#include "bench/tune/grid.hpp"

namespace league::bench {

/// A variant with its inputs in place, as a search sees it.
class Trial {
 public:
  virtual ~Trial() = default;
  /// @returns the effective launch. @throws Unsupported where it is not possible
  virtual Launch configure(const Launch& launch) = 0;
  /// Computes with the launch of the last `configure` from poisoned outputs, and judges the result.
  virtual Verdict check() = 0;
  /// Seconds of one compute with the launch of the last `configure`.
  virtual double sample() = 0;
};

/// What each variant's search may take; whichever comes first.
struct Budget {
  int candidates = 64;                                       ///< that run; those that are refused take no time
  double seconds = std::numeric_limits<double>::infinity();  ///< after the automatic launch, which the oracle judges
};
/// "64" candidates, "90s". @throws BadInput
Budget read_budget(const std::string& text);

/// A launch that was tried, and what came of it.
struct Candidate {
  Launch requested, effective;
  Status status = Status::passed;
  std::string reason;  ///< of what did not pass
  Verdict verdict;
  std::vector<double> samples;  ///< of a first look; of the candidates of the final, those of the final only
};

struct Searched {
  std::vector<Candidate> candidates;  ///< the automatic launch is the first
  std::size_t best = 0;
  /// False where not even the automatic launch runs, and runs right.
  [[nodiscard]] bool passed() const { return candidates.front().status == Status::passed; }
};

/// Looks at the automatic launch, then at teams and vectors, then at leagues and tiles for the best of those. What has
/// the same effective launch as another is not tried again; each candidate is checked before it is timed, and one that
/// is hopelessly slow twice gets no third sample. Then the fastest few and the automatic launch are sampled in turn,
/// afresh, `samples` times each. The best by median wins if its interval lies below that of the automatic launch, which
/// else stays; and it is checked once more.
Searched search(Trial& trial, const Grid& grid, const Budget& budget, int samples);

}  // namespace league::bench
