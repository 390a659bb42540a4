// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cmath>

#include "algorithms/cnn/cnn_image.hpp"

namespace league::cnn {
namespace {

void backward_dense(const double* w, const Batch& batch, std::int64_t position, Image& image, Sums& sums) {
  const auto images = static_cast<double>(batch.order.size());
  const Arithmetic& arithmetic = batch.arithmetic;
  const double error = product_error(images, arithmetic, Rounded::all),
               products = product_error(images, arithmetic, Rounded::forward),
               back = product_error(hidden, arithmetic, Rounded::forward),
               last = product_error(classes, arithmetic, Rounded::all);
  const auto of = [&](double value) { return factor(value, arithmetic, Rounded::forward); };
  const auto of_library = [&](double value) { return factor(value, arithmetic, Rounded::all); };
  double inputs[pooled];
  std::transform(image.p, std::end(image.p), inputs, of);
  double d_p[pooled] = {}, v_d_p[pooled] = {};
  for (int c = 0; c < classes; ++c) sums.add(fc2_biases + c, image.d_logits[c], image.v_d_logits[c], 1, 0, error);
  for (int j = 0; j < hidden; ++j) {
    double sum = 0, sum_v = 0;
    for (int c = 0; c < classes; ++c) {
      const double weight = w[fc2_weights + c * hidden + j];
      sum += of_library(weight) * of_library(image.d_logits[c]);
      sum_v += squared(weight) * (image.v_d_logits[c] + last * squared(image.d_logits[c]));
      sums.add(fc2_weights + c * hidden + j, of_library(image.d_logits[c]), image.v_d_logits[c], of_library(image.h[j]),
               image.v_h[j], error);
    }
    const double d = image.d_h[j] = image.h_factor[j] * sum, v = image.v_d_h[j] = squared(image.h_factor[j]) * sum_v;
    sums.add(fc1_biases + j, d, v, 1, 0, error);
    if (d == 0 && v == 0) continue;
    const double* row = w + fc1_weights + j * pooled;
    double* gradient = sums.gradient.data() + fc1_weights + j * pooled;
    double* errors = sums.errors.data() + fc1_weights + j * pooled;
    const double v_and_sum = v + back * squared(d);
    for (int k = 0; k < pooled; ++k) {
      d_p[k] += of(d) * of(row[k]);
      v_d_p[k] += v_and_sum * squared(row[k]);
      gradient[k] += of(d) * inputs[k];
      errors[k] += v * squared(image.p[k]) + squared(d) * (image.v_p[k] + products * squared(image.p[k]));
    }
  }
  const auto scale = batch.dropout.pooled_scale<double>();
  const double places = product_error(images * windows, arithmetic, Rounded::all);
  std::uint64_t word = 0;
  for (int k = 0; k < pooled; ++k) {
    if (k % 32 == 0) word = batch.dropout.word(batch.step, position, k / 32);
    const bool through = Decision::live(image.decision[k]) && Dropout::keeps_pooled(word, k);
    image.d_z2[k] = through ? scale * d_p[k] : 0;
    image.v_d_z2[k] = through ? squared(scale) * v_d_p[k] + whole_error(1) * squared(image.d_z2[k]) : 0;
    sums.live += through ? 1 : 0;
    sums.add(conv2_biases + k / windows, image.d_z2[k], image.v_d_z2[k], 1, 0, places);
  }
}

void backward_convolutions(const double* w, double images, const Arithmetic& arithmetic, Image& image, Sums& sums) {
  std::fill_n(&image.d_a1[0][0], channels1 * side1 * side1, 0.0);
  std::fill_n(&image.v_d_a1[0][0], channels1 * side1 * side1, 0.0);
  const double places2 = product_error(images * windows, arithmetic, Rounded::convolutions),
               places1 = product_error(images * side1 * side1, arithmetic, Rounded::all),
               back = product_error(channels2 * taps, arithmetic, Rounded::convolutions);
  const auto of = [&](double value) { return factor(value, arithmetic, Rounded::convolutions); };
  const auto of_library = [&](double value) { return factor(value, arithmetic, Rounded::all); };
  for (int k = 0; k < pooled; ++k) {
    const double d = image.d_z2[k], v = image.v_d_z2[k];
    if (d == 0 && v == 0) continue;
    const int o = k / windows, at = position_of(k % windows, Decision::place(image.decision[k]));
    const double v_and_sum = v + back * squared(d);
    for (int c = 0; c < channels1; ++c) {
      const int kernel = conv2_weights + (o * channels1 + c) * taps;
      for (int t = 0; t < taps; ++t) {
        const int from = (at / side2 + t / 3) * side1 + at % side2 + t % 3;
        sums.add(kernel + t, of(d), v, of(image.a1[c][from]), image.v_a1[c][from], places2);
        image.d_a1[c][from] += of(d) * of(w[kernel + t]);
        image.v_d_a1[c][from] += v_and_sum * squared(w[kernel + t]);
      }
    }
  }
  for (int c = 0; c < channels1; ++c)
    for (int i = 0; i < side1 * side1; ++i) {
      const bool live = image.z1[c][i] > 0, unsure = squared(image.z1[c][i]) <= image.v_a1[c][i];
      if (!live && !unsure) continue;
      const double d = live ? image.d_a1[c][i] : 0;
      const double v = image.v_d_a1[c][i] + (unsure ? squared(image.d_a1[c][i]) : 0);
      sums.add(conv1_biases + c, d, v, 1, 0, places1);
      for (int t = 0; t < taps; ++t)
        sums.add(conv1_weights + c * taps + t, of_library(d), v,
                 of_library(image.x[(i / side1 + t / 3) * side + i % side1 + t % 3]), 0, places1);
    }
}

}  // namespace

void take_backward(const double* w, const Batch& batch, std::int64_t position, Image& image, Sums& sums) {
  backward_dense(w, batch, position, image, sums);
  backward_convolutions(w, static_cast<double>(batch.order.size()), batch.arithmetic, image, sums);
}

}  // namespace league::cnn
