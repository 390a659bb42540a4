// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "backends/runtime.hpp"

namespace league::tests {

/// Several rounds of values [rounds x size], row-major.
struct Rounds {
  std::int64_t count = 0, size = 0;
  std::vector<double> values;
};

/// One shard's end of an exchange: a buffer in the memory of its device, filled anew in each round, and compared there
/// with what the round should give. Which round it is, is counted on the device: recorded work goes on through the
/// rounds whenever it is launched. All but the constructor and `wrong` only queue work.
class ExchangeProbe {
 public:
  virtual ~ExchangeProbe() = default;
  /// The buffer [size].
  [[nodiscard]] virtual std::span<double> values() = 0;
  /// Values of this round, those of `sent`, into the buffer.
  virtual void fill() = 0;
  /// Counts values of the buffer that differ from those of `expected` by more than `tolerance`; the next round begins.
  virtual void compare() = 0;
  /// How many have differed so far. Waits for the queue.
  [[nodiscard]] virtual std::int64_t wrong() = 0;
  /// The buffer's contents. Waits for the queue.
  [[nodiscard]] virtual std::vector<double> read() = 0;
};

/// @pre both have as many rounds and values
using MakeExchangeProbe = std::unique_ptr<ExchangeProbe> (*)(Queue&, const Rounds& sent, const Rounds& expected,
                                                             double tolerance);
/// For GPUs; null where this build has no CUDA.
MakeExchangeProbe& exchange_probe_on_gpu();

}  // namespace league::tests
