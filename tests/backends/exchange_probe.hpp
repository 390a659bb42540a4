// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "backends/communicator.hpp"

namespace league::tests {

/// One shard's end of an exchange: a buffer in the memory of its device, filled anew in each round, and compared there
/// with what the round should give. Which round it is, is counted on the device: recorded work goes on through the
/// rounds whenever it is launched. All but the constructor, `wrong` and `read` only queue work.
class ExchangeProbe {
 public:
  virtual ~ExchangeProbe() = default;
  [[nodiscard]] virtual Buffer buffer() = 0;
  /// Values of this round, those of `sent`, into the buffer.
  virtual void fill() = 0;
  /// Counts values of this part of the buffer that differ from those of `expected` by more than `tolerance`; the next
  /// round begins.
  virtual void compare(Range part) = 0;
  void compare() { compare({0, buffer().size}); }
  /// How many have differed so far. Waits for the queue.
  [[nodiscard]] virtual std::int64_t wrong() = 0;
  /// The contents of a buffer of doubles. Waits for the queue.
  [[nodiscard]] virtual std::vector<double> read() = 0;
};

/// What a probe's buffer is to hold: [rounds x size], of the buffer's type.
struct ProbeRounds {
  HostArray sent, expected;
  double tolerance = 0;
  std::int64_t skew = 0;  ///< values of the buffer's allocation that come before it
};

using MakeExchangeProbe = std::unique_ptr<ExchangeProbe> (*)(Queue&, const ProbeRounds&);
/// For GPUs; null where this build has no CUDA.
MakeExchangeProbe& exchange_probe_on_gpu();

/// Kernels on the devices of all shards at the same time, which add `terms` of their shards again and again by stamped
/// words. @returns how many of the sums were wrong
using AddByViews = std::int64_t (*)(const std::vector<Queue*>&, const std::vector<DeviceView>&,
                                    const std::vector<double>& terms);
/// For GPUs; null where this build has no CUDA.
AddByViews& add_by_views_on_gpu();

}  // namespace league::tests
