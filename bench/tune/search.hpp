// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "algorithms/contract/prepared.hpp"
#include "bench/record/result.hpp"
#include "bench/tune/grid.hpp"

namespace league::bench {

/// A variant with its inputs uploaded: the interface of a search.
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

/// Limits of the search of one variant; whichever is reached first.
struct Budget {
  int candidates = 64;                                       ///< that ran; refused ones do not count
  double seconds = std::numeric_limits<double>::infinity();  ///< after the automatic launch, which the oracle judges
};
/// "64" candidates, "90s". @throws BadInput
Budget read_budget(const std::string& text);

/// A launch that was tried, and its result.
struct Candidate {
  Launch requested, effective;
  Status status = Status::passed;
  std::string reason;  ///< of what did not pass
  Verdict verdict;
  std::vector<double> samples;  ///< of the first round; of finalists, of the final only
};

struct Searched {
  std::vector<Candidate> candidates;  ///< the automatic launch is the first
  std::size_t best = 0;
  /// False where the automatic launch itself failed or was skipped.
  [[nodiscard]] bool passed() const { return candidates.front().status == Status::passed; }
};

/// Tries the automatic launch, then teams and vectors, then leagues and tiles for the best of those. What has
/// the same effective launch as another is not tried again; each candidate is checked before it is timed, and one that
/// is far too slow twice gets no third sample. Then the fastest few and the automatic launch are sampled in turn,
/// afresh, `samples` times each. The best by median wins if its interval lies below that of the automatic launch, which
/// else stays; and it is checked once more.
Searched search(Trial& trial, const Grid& grid, const Budget& budget, int samples);

}  // namespace league::bench
