// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/blocks/optimizer.hpp"
#include "algorithms/cnn/networks.hpp"

/// The networks in double, with error bounds for a variant's arithmetic.
namespace league::cnn {

/// A variant's arithmetic: f32, except for products that round their factors, as matrix units do.
struct Arithmetic {
  /// Which products, each with those before: the convolutions but the first forward, and the first dense layer forward
  /// and backward; these convolutions backward; the first convolution; all, and the sums that libraries compute as
  /// products.
  enum class Rounded { none, forward, backward, convolutions, all };
  Rounded rounded = Rounded::none;
  double roundoff = 0;    ///< unit roundoff of the factors
  double stored = 0;      ///< unit roundoff of values as stored between the layers, where it is not that of f32
  bool rounds = false;    ///< the oracle's factors, too
  bool stores = false;    ///< the oracle's values between the layers, too
  double transforms = 1;  ///< squared errors of convolutions that a library transforms, relative to direct sums
  double drift = 0.02;    ///< how far two steps may lead from those in double, relative to the distance covered

  /// The same with an optimizer. The first steps of Adam go by the signs of the gradient: where the first convolution
  /// is rounded too, roundings turn a share of them, whose distance is the root of that share.
  [[nodiscard]] double drift_of(blocks::Optimizer optimizer) const;

  /// By the form of a variant's outputs, such as `Cnn::tf32`; f32 if it has none.
  [[nodiscard]] static Arithmetic of(std::string_view form);
};

/// The images of one step, by position in the batch of all devices.
struct Batch {
  std::span<const std::uint8_t> images;  ///< [all images x pixels]
  std::span<const std::int32_t> labels;  ///< of all
  std::span<const std::int32_t> order;   ///< indices of the batch's images
  std::int64_t step = 0;                 ///< for dropout
  Dropout dropout{};
  Arithmetic arithmetic{};
  const Network* network = &mnist;
};

/// A variant's decisions on a batch: u8 [images x decisions], [images x hidden].
struct Decisions {
  std::span<const std::uint8_t> pool, hidden;
};

/// A loss and its gradient, each with its error bound.
struct Gradient {
  double loss = 0, loss_bound = 0;
  std::vector<double> values, bounds;  ///< [parameters]
  std::int64_t ties = 0;               ///< decisions that differ from those in double, within the bounds
  std::int64_t live = 0;               ///< windows with a gradient
  std::string message{};               ///< the first wrong decision; empty if none
};

/// The mean loss of a batch and its gradient. With `decisions`, these are checked and followed: each must agree with
/// double, or concern values closer together than their bounds.
[[nodiscard]] Gradient differentiate(std::span<const double> weights, const Batch& batch,
                                     const Decisions* decisions = nullptr);

/// The loss only.
[[nodiscard]] Gradient evaluate(std::span<const double> weights, const Batch& batch);

/// The logits of one image, without dropout, and a bound for each.
struct Logits {
  double values[classes], bounds[classes];
};
[[nodiscard]] Logits classify(std::span<const double> weights, std::span<const std::uint8_t> image,
                              const Arithmetic& arithmetic = {}, const Network& network = mnist);

}  // namespace league::cnn
