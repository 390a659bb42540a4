// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "bench/data/dataset.hpp"
#include "bench/measure/check.hpp"
#include "bench/measure/end_to_end.hpp"

namespace league::bench {

/// End-to-end times of the cases of one comparison. The problem is made once more where its inputs must lie in another
/// kind of host memory than those that samples are taken with.
class EndToEndTimes {
 public:
  /// `problem`: of the samples.
  EndToEndTimes(const Problem& problem, Runtime& runtime, Datasets& datasets)
      : problem_(problem), runtime_(runtime), datasets_(datasets) {}

  using Check = std::function<void(PreparedCase&)>;
  /// Of a case that times itself (a Python peer), in the process that it has. `check` is called after the passes in
  /// each kind of memory, and throws if the results are wrong.
  std::vector<EndToEnd> of_peer(PreparedCase& prepared_case, const std::function<void()>& check_interrupt,
                                const Check& check);
  /// Of a case that is prepared anew for each cold pass. @pre it holds no device memory
  std::vector<EndToEnd> of_case(const Case& that, std::int64_t memory_budget_bytes,
                                const std::function<void()>& check_interrupt, const Check& check);

 private:
  /// The problem once more, its inputs in ordinary memory.
  const Problem& pageable(const Case& that);
  const Problem& problem_;
  Runtime& runtime_;
  Datasets& datasets_;
  std::unique_ptr<Problem> pageable_;
};

}  // namespace league::bench
