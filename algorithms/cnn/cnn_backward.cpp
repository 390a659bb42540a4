// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cmath>

#include "algorithms/cnn/cnn_image.hpp"

namespace league::cnn {
namespace {

void backward_dense(const double* w, const Batch& batch, Image& image, Sums& sums) {
  const Network& network = image.network;
  Planes& from = image.planes.back();
  const auto images = static_cast<double>(batch.order.size());
  const Arithmetic& arithmetic = batch.arithmetic;
  const int flat = network.flat(), neurons = network.hidden;
  const double error = product_error(images, arithmetic, Rounded::all),
               products = product_error(images, arithmetic, Rounded::forward),
               back = product_error(neurons, arithmetic, Rounded::forward),
               last = product_error(classes, arithmetic, Rounded::all);
  const auto of = [&](double value) { return factor(value, arithmetic, Rounded::forward); };
  const auto of_library = [&](double value) { return factor(value, arithmetic, Rounded::all); };
  std::vector<double> inputs(from.a.size());
  std::ranges::transform(from.a, inputs.begin(), of);
  std::ranges::fill(from.d_a, 0.0);
  std::ranges::fill(from.v_d_a, 0.0);
  for (int c = 0; c < classes; ++c)
    sums.add(network.fc2_biases() + c, of_library(image.d_logits[c]), image.v_d_logits[c], 1, 0, error);
  for (int j = 0; j < neurons; ++j) {
    const auto at = static_cast<std::size_t>(j);
    double sum = 0, sum_v = 0;
    for (int c = 0; c < classes; ++c) {
      const int parameter = network.fc2_weights() + c * neurons + j;
      sum += of_library(w[parameter]) * of_library(image.d_logits[c]);
      sum_v += squared(w[parameter]) * (image.v_d_logits[c] + last * squared(image.d_logits[c]));
      sums.add(parameter, of_library(image.d_logits[c]), image.v_d_logits[c], of_library(image.h[at]), image.v_h[at],
               error);
    }
    const double d = image.d_h[at] = stored(image.h_factor[at] * stored(sum, arithmetic), arithmetic),
                 v = image.v_d_h[at] = squared(image.h_factor[at]) * sum_v + stored_error(arithmetic) * squared(d);
    sums.add(network.fc1_biases() + j, of_library(d), v, 1, 0, error);
    if (d == 0 && v == 0) continue;
    const int weights = network.fc1_weights() + j * flat;
    double *gradient = sums.gradient.data() + weights, *errors = sums.errors.data() + weights;
    const double v_and_sum = v + back * squared(d);
    for (int k = 0; k < flat; ++k) {
      const auto i = static_cast<std::size_t>(k);
      from.d_a[i] += of(d) * of(w[weights + k]);
      from.v_d_a[i] += v_and_sum * squared(w[weights + k]);
      gradient[k] += of(d) * inputs[i];
      errors[k] += v * squared(from.a[i]) + squared(d) * (from.v_a[i] + products * squared(from.a[i]));
    }
  }
}

/// Back through dropout, pool and ReLU of convolution `n`, into its biases.
void backward_pool(const Batch& batch, std::int64_t position, int n, Image& image, Sums& sums) {
  const Convolution& layer = image.network.convolutions[n];
  Planes& of = image.planes[static_cast<std::size_t>(n)];
  const bool drops = image.network.drops && n + 1 == image.network.count;
  const auto scale = batch.dropout.pooled_scale<double>();
  const double places =
      product_error(static_cast<double>(batch.order.size()) * layer.windows(), batch.arithmetic, Rounded::all);
  const auto passed = [&](double factor, double d) {
    return stored(factor * stored(d, batch.arithmetic), batch.arithmetic);
  };
  std::uint64_t word = 0;
  for (int k = 0; k < layer.values(); ++k) {
    if (drops && k % 32 == 0) word = batch.dropout.word(batch.step, position, k / 32);
    const auto at = static_cast<std::size_t>(k);
    const bool live = Decision::live(of.decision[at]);
    if (layer.decides) {
      const bool through = live && (!drops || Dropout::keeps_pooled(word, k));
      const double factor = drops ? scale : 1;
      of.d_z[at] = through ? passed(factor, of.d_a[at]) : 0;
      of.v_d_z[at] = through ? squared(factor) * of.v_d_a[at] + (drops ? whole_error(1) * squared(of.d_z[at]) : 0) : 0;
      sums.live += through ? 1 : 0;
    } else {  // a variant may have decided otherwise
      const bool unsure = squared(of.z[at]) <= of.v_z[at];
      of.d_z[at] = live ? passed(1, of.d_a[at]) : 0;
      of.v_d_z[at] = live || unsure ? of.v_d_a[at] + (unsure ? squared(of.d_a[at]) : 0) : 0;
    }
    of.v_d_z[at] += stored_error(batch.arithmetic) * squared(of.d_z[at]);
    sums.add(layer.biases + k / layer.windows(), factor(of.d_z[at], batch.arithmetic, Rounded::all), of.v_d_z[at], 1, 0,
             places);
  }
}

/// From convolution `n` into its weights and, but for the first, the gradient of its inputs.
void backward_convolution(const double* w, double images, const Arithmetic& arithmetic, int n, Image& image,
                          Sums& sums) {
  const Convolution& layer = image.network.convolutions[n];
  const Planes& of = image.planes[static_cast<std::size_t>(n)];
  Planes* from = n == 0 ? nullptr : &image.planes[static_cast<std::size_t>(n - 1)];
  const Rounded kind = n == 0 ? Rounded::convolutions : Rounded::backward;
  const double places = convolution_error(images * layer.windows(), arithmetic, kind),
               back = convolution_error(layer.outputs * taps, arithmetic, kind);
  const auto rounded = [&](double value) { return factor(value, arithmetic, kind); };
  const std::vector<double>& a = from == nullptr ? image.x : from->a;
  std::vector<double> inputs(a.size()), squares(a.size()), noise(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    inputs[i] = rounded(a[i]);
    squares[i] = squared(inputs[i]);
    noise[i] = (from == nullptr ? 0 : from->v_a[i]) + places * squares[i];
  }
  const double* weights = w + layer.weights;
  std::vector<double> factors(static_cast<std::size_t>(layer.outputs * layer.inputs * taps)), squared_weights(factors);
  std::transform(weights, weights + factors.size(), factors.begin(), rounded);
  std::transform(weights, weights + factors.size(), squared_weights.begin(), squared);
  if (from != nullptr) std::ranges::fill(from->d_a, 0.0), std::ranges::fill(from->v_d_a, 0.0);
  for (int k = 0; k < layer.values(); ++k) {
    const double d = of.d_z[static_cast<std::size_t>(k)], v = of.v_d_z[static_cast<std::size_t>(k)];
    if (d == 0 && v == 0) continue;
    const int o = k / layer.windows(),
              at = layer.position_of(k % layer.windows(), Decision::place(of.decision[static_cast<std::size_t>(k)]));
    const int corner = at / layer.to_side() * layer.side + at % layer.to_side();
    const double of_d = rounded(d), square = squared(of_d), v_and_sum = v + back * squared(d);
    for (int c = 0; c < layer.inputs; ++c) {
      const int kernel = (o * layer.inputs + c) * taps, first = c * layer.plane() + corner;
      double* gradient = sums.gradient.data() + layer.weights + kernel;
      double* errors = sums.errors.data() + layer.weights + kernel;
      for (int t = 0; t < taps; ++t) {
        const auto i = static_cast<std::size_t>(first + t / 3 * layer.side + t % 3);
        gradient[t] += of_d * inputs[i];
        errors[t] += v * squares[i] + square * noise[i];
      }
      if (from == nullptr) continue;
      for (int t = 0; t < taps; ++t) {
        const auto i = static_cast<std::size_t>(first + t / 3 * layer.side + t % 3);
        const auto weight = static_cast<std::size_t>(kernel + t);
        from->d_a[i] += of_d * factors[weight];
        from->v_d_a[i] += v_and_sum * squared_weights[weight];
      }
    }
  }
}

}  // namespace

void take_backward(const double* w, const Batch& batch, std::int64_t position, Image& image, Sums& sums) {
  backward_dense(w, batch, image, sums);
  for (int n = image.network.count; n-- > 0;) {
    backward_pool(batch, position, n, image, sums);
    backward_convolution(w, static_cast<double>(batch.order.size()), batch.arithmetic, n, image, sums);
  }
}

}  // namespace league::cnn
