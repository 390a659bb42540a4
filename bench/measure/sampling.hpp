// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "backends/ranks.hpp"

namespace league::bench {

/// One case to sample: each call of `draw` returns the seconds of one sample.
struct Draw {
  std::string name;
  int samples = 0;  ///< at most
  std::function<double()> draw;
  int placements = 1;  ///< of its arrays, which the samples take in turn
};

/// The placement of sample `number` (from 0) of a case.
constexpr int placement_of(int number, int placements) { return number % placements; }

struct Drawn {
  std::vector<double> samples;  ///< in the order in which they were drawn
  std::string error;            ///< of the first failing draw, which is the last
  int placements = 1;
};

class Stopping;

/// Samples through Google Benchmark, which interleaves all draws of a call at random.
class Sampler {
 public:
  Sampler();
  ~Sampler();
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  /// One batch: all samples of all draws. @returns one element per draw. @throws Interrupted if a draw does
  std::vector<Drawn> sample(const std::vector<Draw>& draws);
  /// Batches until `stopping` ends it. Collective, with the same draws on all ranks: rank 0 decides the order.
  std::vector<Drawn> sample(const std::vector<Draw>& draws, Ranks& ranks, Stopping& stopping);
};

}  // namespace league::bench
