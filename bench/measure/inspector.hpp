// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "bench/measure/measure.hpp"

namespace league::bench {

/// What was looked at while a case was sampled.
struct Inspections {
  int results = 0;   ///< of timed computes, compared with a result that the oracle judged
  int poisoned = 0;  ///< computes in a batch whose outputs were poisoned just before
  int altered = 0;   ///< computes in a batch whose inputs were altered just before
};

/// Takes the samples of a case, and finds kernels that compute only now and then. At random samples the outputs are
/// poisoned before (untimed), and what the timed computes left is compared with a result that the oracle judged: by a
/// digest where it lies, on the host only if the bits differ. Beside the samples there are trials, which a kernel
/// cannot tell from them: a batch of computes, then without a pause other inputs at random places or poisoned outputs,
/// and one more compute, whose result must be that of the same inputs from poisoned outputs. A kernel is found that
/// looks at its outputs, at some of its inputs or at the number of its calls before it computes.
///
/// Kernels of this project have four trials, large ones one, others five at each random sample. Computes of 10 ms and
/// more are samples from poisoned outputs anyway.
///
/// Collective: all ranks construct it with the same seed.
class Inspector {
 public:
  /// @pre the results that the case holds were judged right
  Inspector(PreparedCase& prepared_case, std::uint64_t seed);

  /// Draws a sample, and calls `sampled()` right after its timed part. @returns seconds of one compute @throws
  /// std::runtime_error if a result is wrong
  double sample(PreparedCase& prepared_case, Meter& meter, int batch, const std::function<void()>& sampled);
  /// The last trials, after all samples. @throws std::runtime_error as `sample`
  void finish(PreparedCase& prepared_case, Meter& meter, int batch);
  [[nodiscard]] const Inspections& inspections() const { return done_; }

 private:
  /// As `SelfTimed::inspect`.
  [[nodiscard]] std::optional<std::uint64_t> inspect(PreparedCase& prepared_case, int before, std::uint64_t draw) const;
  /// The results of an inspection, on the host.
  [[nodiscard]] Outputs results_of(PreparedCase& prepared_case, int before, std::uint64_t draw) const;
  [[nodiscard]] bool is_chosen();
  [[nodiscard]] std::uint64_t draw();
  void judge_left(PreparedCase& prepared_case);
  /// `own`: the number of trials at most, of a kernel of this project.
  void try_out(PreparedCase& prepared_case, const Meter& meter, int batch, int own);
  void try_altered(PreparedCase& prepared_case, int before);
  void try_poisoned(PreparedCase& prepared_case, int before);
  /// A compute may not take longer where the inputs are not those of the compute before.
  void compare_paces(PreparedCase& prepared_case, const Meter& meter);
  [[nodiscard]] bool is_right(std::uint64_t digest) const;

  std::uint64_t seed_, draws_ = 0;
  bool is_foreign_;                      ///< a peer, or a kernel of the user's own
  bool in_place_;                        ///< results can be told apart where they lie
  std::int64_t samples_ = 0, next_ = 0;  ///< the next chosen sample
  int trials_ = 0, judged_ = 0;
  bool alters_ = true;                ///< altered inputs may change the result
  std::vector<std::uint64_t> right_;  ///< digests of results that the oracle judged right
  Inspections done_;
};

}  // namespace league::bench
