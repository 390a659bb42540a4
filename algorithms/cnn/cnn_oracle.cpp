// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/cnn/cnn_oracle.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "algorithms/cnn/cnn.hpp"
#include "algorithms/cnn/cnn_image.hpp"

namespace league::cnn {
namespace {

constexpr double tf32_roundoff = 0x1p-11, bf16_roundoff = 0x1p-8;

/// Variance of the errors of Winograd's F(4x4, 3x3) relative to those of direct sums, for the worst output of a tile:
/// in one dimension the sum over t of A[o][t]^2 |G[t]|^2 |B[t]|^2, divided by the taps.
constexpr double winograd = (283.0 / 9) * (283.0 / 9);

/// Transforms spread errors over a filter: each of its taps gets the largest of them.
void share_errors_of_filters(const Network& network, std::vector<double>& errors) {
  for (int n = 0; n < network.count; ++n) {
    const Convolution& layer = network.convolutions[n];
    for (int at = layer.weights; at < layer.biases; at += taps)
      std::fill_n(errors.begin() + at, taps, *std::max_element(errors.begin() + at, errors.begin() + at + taps));
  }
}

Gradient pass(std::span<const double> weights, const Batch& batch, const Decisions* decisions, bool backward) {
  const auto images = static_cast<std::int64_t>(batch.order.size());
  const auto count = static_cast<double>(images);
  const double* w = weights.data();
  const int threads = static_cast<int>(std::clamp<std::int64_t>(images, 1, omp_get_max_threads()));
  Sums all(*batch.network);
  std::vector<std::unique_ptr<Sums>> of_threads(static_cast<std::size_t>(threads));  // null: OpenMP started fewer
#pragma omp parallel num_threads(threads)
  {
    of_threads[static_cast<std::size_t>(omp_get_thread_num())] = std::make_unique<Sums>(*batch.network);
    Sums& sums = *of_threads[static_cast<std::size_t>(omp_get_thread_num())];
    Image image(*batch.network);
#pragma omp for schedule(dynamic)
    for (std::int64_t i = 0; i < images; ++i) {
      const std::string wrong = take_forward(w, batch, i, decisions, image, sums.ties);
      if (!wrong.empty() && i < sums.wrong_image) sums.wrong = wrong, sums.wrong_image = i;
      sums.loss += image.loss / count;
      sums.e_loss += image.e_loss / count;
      sums.relative = std::max(sums.relative, image.relative);
      if (backward) take_backward(w, batch, i, image, sums);
    }
    constexpr std::size_t block = 1024;
#pragma omp for schedule(static)
    for (std::size_t begin = 0; begin < all.gradient.size(); begin += block)
      for (const auto& one : of_threads)
        if (one) all.add(*one, begin, std::min(begin + block, all.gradient.size()));
  }
  for (const auto& one : of_threads)
    if (one) all.add(*one);
  Gradient gradient{.loss = all.loss,
                    .loss_bound = all.e_loss + 8 * unit * std::sqrt(count + 1) * all.loss,
                    .ties = all.ties,
                    .live = all.live};
  if (!all.wrong.empty()) gradient.message = "image " + std::to_string(all.wrong_image) + " of the batch: " + all.wrong;
  if (!backward) return gradient;
  if (batch.arithmetic.transforms > 1) share_errors_of_filters(*batch.network, all.errors);
  // An error of a probability affects all gradients of its image coherently.
  for (std::size_t i = 0; i < all.errors.size(); ++i)
    all.errors[i] = std::sqrt(all.errors[i]) + (all.relative + batch.arithmetic.stored) * std::abs(all.gradient[i]);
  std::ranges::transform(all.gradient, all.gradient.begin(),
                         [&](double value) { return stored(value, batch.arithmetic); });
  gradient.values = std::move(all.gradient);
  gradient.bounds = std::move(all.errors);
  return gradient;
}

}  // namespace

Arithmetic Arithmetic::of(std::string_view form) {
  const Rounded rounded = form.ends_with(Cnn::of_all)            ? Rounded::all
                          : form.ends_with(Cnn::of_convolutions) ? Rounded::convolutions
                          : form.ends_with(Cnn::of_backward)     ? Rounded::backward
                                                                 : Rounded::forward;
  if (form.starts_with(Cnn::tf32)) return {.rounded = rounded, .roundoff = tf32_roundoff, .drift = 0.06};
  if (form.starts_with(Cnn::bf16))
    return {.rounded = rounded,
            .roundoff = bf16_roundoff,
            .stored = rounded == Rounded::all ? bf16_roundoff : 0,
            .drift = 0.35};
  if (form == Cnn::f32_transformed) return {.transforms = winograd};
  return {};
}

double Arithmetic::drift_of(blocks::Optimizer optimizer) const {
  return rounded >= Rounded::convolutions && optimizer == blocks::Optimizer::adam ? std::sqrt(drift) : drift;
}

Gradient differentiate(std::span<const double> weights, const Batch& batch, const Decisions* decisions) {
  Gradient gradient = pass(weights, batch, decisions, true);
  if (batch.arithmetic.rounded == Rounded::none) return gradient;
  // The roundings of weights, and of equal values, are the same in all images and positions: not independent.
  Batch with_roundings = batch;
  with_roundings.arithmetic.rounds = true;
  std::vector<double> apart(gradient.values.size());
  double loss_apart = 0;
  const auto follow = [&] {
    const Gradient rounded = pass(weights, with_roundings, decisions, true);
    for (std::size_t i = 0; i < apart.size(); ++i)
      apart[i] = std::max(apart[i], std::abs(rounded.values[i] - gradient.values[i]));
    loss_apart = std::max(loss_apart, std::abs(rounded.loss - gradient.loss));
  };
  follow();
  // Values between the layers may be stored in the narrow type, or not.
  with_roundings.arithmetic.stores = batch.arithmetic.stored > 0;
  if (with_roundings.arithmetic.stores) follow();
  for (std::size_t i = 0; i < apart.size(); ++i) gradient.bounds[i] += apart[i];
  gradient.loss_bound += loss_apart;
  return gradient;
}

Gradient evaluate(std::span<const double> weights, const Batch& batch) { return pass(weights, batch, nullptr, false); }

Logits classify(std::span<const double> weights, std::span<const std::uint8_t> grey, const Arithmetic& arithmetic,
                const Network& network) {
  Image image(network);
  take_forward(weights.data(), grey.data(), arithmetic, image);
  Logits logits{};
  for (int c = 0; c < classes; ++c) {
    logits.values[c] = image.logits[c];
    logits.bounds[c] = std::sqrt(image.v_logits[c]);
  }
  return logits;
}

}  // namespace league::cnn
