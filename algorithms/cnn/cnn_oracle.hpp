// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "algorithms/cnn/network.hpp"

/// The network in double, with bounds on what arithmetic in f32 may differ by.
namespace league::cnn {

/// The images of one step, by their places in the batch of all devices.
struct Batch {
  std::span<const std::uint8_t> images;  ///< [all images x pixels]
  std::span<const std::int32_t> labels;  ///< of all
  std::span<const std::int32_t> order;   ///< which of them, in their places
  std::int64_t step = 0;                 ///< for dropout
  Dropout dropout{};
};

/// What a variant decided on a batch: u8 [images x pooled], [images x hidden].
struct Decisions {
  std::span<const std::uint8_t> pool, hidden;
};

/// A loss and its gradient, each with the largest error that f32 may have.
struct Gradient {
  double loss = 0, loss_bound = 0;
  std::vector<double> values, bounds;  ///< [parameters]
  std::int64_t ties = 0;               ///< decisions that differ from those in double, within the bounds
  std::int64_t live = 0;               ///< windows that a gradient went through
  std::string message{};               ///< the first decision that is wrong; empty if there is none
};

/// The mean loss of a batch and its gradient. With `decisions`, these are checked and followed: each must be that of
/// double, or of values that lie closer together than their bounds.
[[nodiscard]] Gradient differentiate(std::span<const double> weights, const Batch& batch,
                                     const Decisions* decisions = nullptr);

/// The loss alone.
[[nodiscard]] Gradient evaluate(std::span<const double> weights, const Batch& batch);

/// The logits of one image, without dropout, and a bound for each.
struct Logits {
  double values[classes], bounds[classes];
};
[[nodiscard]] Logits classify(std::span<const double> weights, std::span<const std::uint8_t> image);

}  // namespace league::cnn
