// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <gpu_dialect.hpp>

#include "backends/stamped.hpp"

/// Communication between concurrent blocks and devices by stamped words.
namespace league::cuda {

using stamped::publish, stamped::Word;

/// Time-out of a wait: traps if the sender does not run concurrently. Long, because sanitizers slow kernels down a
/// hundredfold.
inline constexpr std::uint64_t wait_limit_ns = 20'000'000'000;

/// Polls `arrived()` until it is true.
template <class Arrived>
__device__ void wait_until(const Arrived& arrived, std::uint64_t limit_ns = wait_limit_ns) {
  constexpr unsigned polls_per_look = 1024;  // the clock takes longer to read than a word
  std::uint64_t begin_ns = 0;
  for (unsigned polls = 1; !arrived(); ++polls) {
    if (polls % polls_per_look != 0) continue;
    const std::uint64_t now_ns = clock_ns();
    if (begin_ns == 0) begin_ns = now_ns;
    if (now_ns - begin_ns > limit_ns) trap();
  }
}

/// The value that `publish` sends with this stamp.
template <class T = double>
__device__ T await(const Word* low, const Word* high, unsigned stamp, std::uint64_t limit_ns = wait_limit_ns) {
  T value;
  wait_until([&] { return stamped::arrived(low, high, stamp, value); }, limit_ns);
  return value;
}

}  // namespace league::cuda
