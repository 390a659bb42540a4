// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/cnn/forward.hpp"

/// The convolutions' gradients on GPUs: partial sums per team, and the sums over all teams.
namespace league::cnn {

/// Layout of a team's sums in `GpuMemory::partials`.
struct Partials {
  static constexpr int weights2 = 0, biases2 = weights2 + channels2 * taps * channels1;
  static constexpr int weights1 = biases2 + channels2, biases1 = weights1 + channels1 * taps;
  static_assert(biases1 + channels1 == fc1_weights);
  /// The parameter of sum `at`.
  LEAGUE_FUNCTION static int parameter(int at) {
    if (at < biases2)
      return conv2_weights + (at / (taps * channels1) * channels1 + at % channels1) * taps + at / channels1 % taps;
    if (at < weights1) return conv2_biases + at - biases2;
    return at < biases1 ? conv1_weights + at - weights1 : conv1_biases + at - biases1;
  }
};

/// Adds the teams' sums of the convolutions' gradients; 32 parameters per team.
struct AddPartials {
  static constexpr int threads = 256, min_teams = 2, parts = threads / 32, items = fc1_weights / 32;
  static constexpr int scratch_bytes = static_cast<int>(sizeof(float)) * threads;
  static_assert(items * 32 == fc1_weights);

  template <class Barrier>
  LEAGUE_FUNCTION static void run(const blocks::Group<Barrier>& group, const State& s, const GpuMemory& memory,
                                  const Take& /*take*/, int item, float* scratch) {
    const int lane = group.rank % 32, part = group.rank / 32, at = item * 32 + lane;
    group.barrier();
    scratch[group.rank] = blocks::sum_in_order<12>((memory.teams + parts - 1 - part) / parts, [&](int n) {
      return memory.partials[std::int64_t{n * parts + part} * fc1_weights + at];
    });
    group.barrier();
    if (part != 0) return;
    float sum = 0;
    for (int n = 0; n < parts; ++n) sum += scratch[n * 32 + lane];
    s.gradient[Partials::parameter(at)] = sum;
    if (at == 0) *memory.size = s.step_size();  // for the update, which also counts the step
  }
};

}  // namespace league::cnn
