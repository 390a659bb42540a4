// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/contract/problem.hpp"
#include "backends/ranks.hpp"
#include "bench/measure/measure.hpp"

/// Results of all ranks, combined.
namespace league::bench {

/// Sums and maxima over the ranks in rank order: the same bits on all ranks.
class RankReduce final : public Reduce {
 public:
  explicit RankReduce(Ranks& ranks) : ranks_(ranks) {}
  void sum(std::span<double> values) override;
  void sum(std::span<long double> values) override;
  void sum(std::span<std::int64_t> values) override;
  void max(std::span<double> values) override;
  bool agree(std::uint64_t value) override;

 private:
  Ranks& ranks_;
};

/// The verdict on the results of all ranks. Verdicts of split arrays are added, replicated
/// arrays are judged once. The message names the first rank that found an error.
Verdict gathered(Ranks& ranks, const Verdict& verdict, const Outputs& outputs);

/// The arrays with the rows of all ranks, on rank 0; elsewhere nothing. Replicated arrays stay as they are.
Outputs gathered(Ranks& ranks, const Outputs& outputs);

/// Stages with the slowest of all ranks, the times of all devices, and their timelines, on every rank. `begin_skew_s`:
/// how much later than the first this rank began.
Trace gathered(Ranks& ranks, const Trace& trace);

}  // namespace league::bench
