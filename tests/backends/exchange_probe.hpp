// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "backends/communicator.hpp"

namespace league::tests {

/// One shard's part of a collective: a buffer on its device, filled in each round, and compared there with the expected
/// values. The round is counted on the device, so that recorded work advances through the rounds. All but the
/// constructor, `wrong` and `read` only submit work.
class ExchangeProbe {
 public:
  virtual ~ExchangeProbe() = default;
  [[nodiscard]] virtual Buffer buffer() = 0;
  /// Fills the buffer with the round's values of `sent`.
  virtual void fill() = 0;
  /// Counts values of this part of the buffer that differ from `expected` by more than `tolerance`; starts the next
  /// round.
  virtual void compare(Range part) = 0;
  void compare() { compare({0, buffer().size}); }
  /// The number of differences so far. Waits for the queue.
  [[nodiscard]] virtual std::int64_t wrong() = 0;
  /// The contents of a buffer of doubles. Waits for the queue.
  [[nodiscard]] virtual std::vector<double> read() = 0;
};

/// Contents of a probe's buffer: [rounds x size], of the buffer's type.
struct ProbeRounds {
  HostArray sent, expected;
  double tolerance = 0;
  std::int64_t skew = 0;  ///< values in the allocation before the buffer
};

using MakeExchangeProbe = std::unique_ptr<ExchangeProbe> (*)(Queue&, const ProbeRounds&);
/// For GPUs; null in builds without CUDA.
MakeExchangeProbe& exchange_probe_on_gpu();

/// Concurrent kernels on the devices of all shards, which add `terms` of their shards repeatedly by stamped words.
/// @returns the number of wrong sums
using AddByViews = std::int64_t (*)(const std::vector<Queue*>&, const std::vector<DeviceView>&,
                                    const std::vector<double>& terms);
/// For GPUs; null in builds without CUDA.
AddByViews& add_by_views_on_gpu();

}  // namespace league::tests
