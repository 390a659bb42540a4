// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cmath>

#include "algorithms/cnn/cnn_image.hpp"

namespace league::cnn {
namespace {

/// `sums[x] += kernel * rows`, for row `y` of the output of a convolution.
template <class T>
void add_taps(const T* __restrict plane, int from_side, int y, const T* __restrict kernel, T* __restrict sums) {
  const T* row = plane + y * from_side;
  for (int x = 0; x < from_side - 2; ++x)
    for (int t = 0; t < taps; ++t) sums[x] += kernel[t] * row[t / 3 * from_side + t % 3 + x];
}

/// Convolution `n`: from `a` with the squared errors `v_a`, planes of the inputs, or from exact pixels.
void convolve(const double* w, int n, const Arithmetic& arithmetic, Image& image) {
  constexpr int max_side = 32;
  const Convolution& layer = image.network.convolutions[n];
  Planes& to = image.planes[static_cast<std::size_t>(n)];
  const std::vector<double>& a = n == 0 ? image.x : image.planes[static_cast<std::size_t>(n - 1)].a;
  const Rounded kind = n == 0 ? Rounded::convolutions : Rounded::forward;
  const double terms = layer.terms(), products = convolution_error(terms, arithmetic, kind);
  const auto of = [&](double value) { return factor(value, arithmetic, kind); };
  std::vector<double> inputs(a.size());
  std::vector<float> noise(a.size());
  std::ranges::transform(a, inputs.begin(), of);
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double v = n == 0 ? 0 : image.planes[static_cast<std::size_t>(n - 1)].v_a[i];
    noise[i] = static_cast<float>(v + products * squared(a[i]));
  }
  const int across = layer.to_side();
  std::vector<double> kernels(static_cast<std::size_t>(layer.inputs * taps));
  std::vector<float> squares(kernels.size());
  for (int o = 0; o < layer.outputs; ++o) {
    const double bias = w[layer.biases + o];
    std::transform(w + layer.weights + o * layer.inputs * taps, w + layer.weights + (o + 1) * layer.inputs * taps,
                   kernels.begin(), of);
    std::ranges::transform(kernels, squares.begin(), [](double weight) { return static_cast<float>(weight * weight); });
    for (int y = 0; y < across; ++y) {
      double sums[max_side];
      float errors[max_side];
      std::fill_n(sums, across, bias);
      std::fill_n(errors, across, static_cast<float>(products * squared(bias)));
      for (int c = 0; c < layer.inputs; ++c) {
        add_taps(inputs.data() + c * layer.plane(), layer.side, y, kernels.data() + c * taps, sums);
        add_taps(noise.data() + c * layer.plane(), layer.side, y, squares.data() + c * taps, errors);
      }
      for (int x = 0; x < across; ++x) {
        const auto at = static_cast<std::size_t>(o * layer.positions() + y * across + x);
        const Biased sum{sums[x], bias};
        to.z[at] = sum.stored(arithmetic);
        to.v_z[at] = errors[x] + static_cast<float>(whole_error(terms) * squared(sums[x]) + sum.error(arithmetic));
      }
    }
  }
}

/// The maximum of each window of convolution `n`; with `given`, the value that a variant has chosen.
/// @returns an error of the choice
std::string decide_windows(int n, const std::uint8_t* given, std::int64_t& ties, Image& image) {
  const Convolution& layer = image.network.convolutions[n];
  Planes& of = image.planes[static_cast<std::size_t>(n)];
  std::string wrong;
  for (int k = 0; k < layer.values(); ++k) {
    const int o = k / layer.windows(), window = k % layer.windows();
    const auto at = [&](int place) {
      return static_cast<std::size_t>(o * layer.positions() + layer.position_of(window, place));
    };
    const auto value = [&](int place) { return of.z[at(place)]; };
    const auto bound = [&](int place) { return std::sqrt(of.v_z[at(place)]); };
    int best = 0;
    for (int place = 1; place < layer.places(); ++place)
      if (value(place) > value(best)) best = place;
    const std::uint8_t own = Decision::of(best, value(best) > 0);
    std::uint8_t& decision = of.decision[static_cast<std::size_t>(k)] = own;
    if (given == nullptr || given[k] == own) continue;
    const int place = Decision::place(given[k]);
    const bool known = given[k] <= Decision::of(3, true) && place < layer.places();
    const bool near = known && value(best) - value(place) <= bound(best) + bound(place);
    const bool sign =
        near && (Decision::live(given[k]) == (value(place) > 0) || std::abs(value(place)) <= bound(place));
    if (!sign) {
      const std::string number = n + 1 == image.network.count ? "" : "convolution " + std::to_string(n + 1) + ", ";
      if (wrong.empty())
        wrong = number + "channel " + std::to_string(o) + ", window " + std::to_string(window / layer.window_side()) +
                ", " + std::to_string(window % layer.window_side()) + ": decision " + std::to_string(int{given[k]}) +
                ", expected " + std::to_string(int{own});
      continue;
    }
    // If the maximum is not above 0, its position does not matter.
    if (Decision::live(given[k]) || Decision::live(own)) ++ties;
    decision = given[k];
  }
  return wrong;
}

/// ReLU, pool and dropout of convolution `n`. `followed`: with a variant's decisions; values that they set to 0 have no
/// error.
void pool(int n, const Dropout& dropout, std::int64_t step, std::int64_t position, bool followed, Image& image) {
  const Convolution& layer = image.network.convolutions[n];
  Planes& of = image.planes[static_cast<std::size_t>(n)];
  const bool drops = image.network.drops && n + 1 == image.network.count;
  const auto scale = dropout.pooled_scale<double>();
  std::uint64_t word = 0;
  for (int k = 0; k < layer.values(); ++k) {
    if (drops && k % 32 == 0) word = dropout.word(step, position, k / 32);
    const auto at = static_cast<std::size_t>(k);
    const bool live = Decision::live(of.decision[at]);
    const auto from =
        static_cast<std::size_t>(k / layer.windows() * layer.positions() +
                                 layer.position_of(k % layer.windows(), Decision::place(of.decision[at])));
    const double factor = !drops ? 1 : Dropout::keeps_pooled(word, k) ? scale : 0;
    of.a[at] = live ? factor * of.z[from] : 0;
    of.v_a[at] = followed && layer.decides && !live
                     ? 0
                     : squared(factor) * of.v_z[from] + (drops ? whole_error(1) * squared(of.a[at]) : 0);
  }
}

/// @returns an error of a variant's decisions
std::string dense(const double* w, const Dropout& dropout, std::int64_t step, std::int64_t position,
                  const std::uint8_t* given, const Arithmetic& arithmetic, std::int64_t& ties, Image& image) {
  std::string wrong;
  const Network& network = image.network;
  const Planes& from = image.planes.back();
  const int flat = network.flat(), fc1_weights = network.fc1_weights(), fc2_weights = network.fc2_weights();
  const double products = product_error(flat, arithmetic, Rounded::forward),
               last = product_error(network.hidden, arithmetic, Rounded::all);
  std::vector<double> inputs(from.a.size()), noise(from.a.size());
  std::ranges::transform(from.a, inputs.begin(),
                         [&](double value) { return factor(value, arithmetic, Rounded::forward); });
  for (std::size_t k = 0; k < noise.size(); ++k) noise[k] = from.v_a[k] + products * squared(from.a[k]);
  for (int j = 0; j < network.hidden; ++j) {
    const double* row = w + fc1_weights + j * flat;
    const double bias = w[network.fc1_biases() + j];
    double sum = bias, error = sum_error(flat) * squared(bias);
    for (int k = 0; k < flat; ++k) {
      const auto at = static_cast<std::size_t>(k);
      sum += factor(row[k], arithmetic, Rounded::forward) * inputs[at];
      error += squared(row[k]) * noise[at];
    }
    const Biased output{sum, bias};
    error += whole_error(flat) * squared(sum) + output.error(arithmetic);
    sum = output.stored(arithmetic);
    bool live = sum > 0;
    if (given != nullptr && given[j] != (live ? 1 : 0)) {
      if (given[j] <= 1 && std::abs(sum) <= std::sqrt(error)) {
        live = given[j] == 1;
        ++ties;
      } else if (wrong.empty()) {
        wrong = "hidden value " + std::to_string(j) + ": decision " + std::to_string(int{given[j]}) + ", expected " +
                std::to_string(live ? 1 : 0);
      }
    }
    const bool kept =
        !network.drops || Dropout::keeps_hidden(dropout.word(step, position, Dropout::pooled_words + j / 64), j);
    const double scale = kept ? dropout.hidden_scale<double>() : 0;
    const auto at = static_cast<std::size_t>(j);
    image.h_factor[at] = live ? scale : 0;
    image.h[at] = image.h_factor[at] * sum;
    image.v_h[at] = live || given == nullptr ? squared(scale) * error : 0;
  }
  for (int c = 0; c < classes; ++c) {
    const double* row = w + fc2_weights + c * network.hidden;
    const double bias = w[network.fc2_biases() + c];
    double sum = bias, error = sum_error(network.hidden) * squared(bias);
    for (int j = 0; j < network.hidden; ++j) {
      const auto at = static_cast<std::size_t>(j);
      sum += factor(row[j], arithmetic, Rounded::all) * factor(image.h[at], arithmetic, Rounded::all);
      error += squared(row[j]) * (image.v_h[at] + last * squared(image.h[at]));
    }
    const Biased output{sum, bias};
    image.logits[c] = output.stored(arithmetic);
    error += whole_error(network.hidden) * squared(sum);
    image.v_logits[c] = squared(std::sqrt(error) + output.bound(arithmetic));
  }
  return wrong;
}

void judge_label(Image& image, int label, double images) {
  const double largest = *std::max_element(image.logits, image.logits + classes);
  double sum = 0, size = 1;
  for (const double logit : image.logits) {
    sum += std::exp(logit - largest);
    size = std::max(size, std::abs(logit));
  }
  double p[classes], moved_by_all = 0;
  for (int c = 0; c < classes; ++c) {
    p[c] = std::exp(image.logits[c] - largest) / sum;
    moved_by_all += squared(p[c]) * image.v_logits[c];
  }
  image.loss = largest + std::log(sum) - image.logits[label];
  double errors = 0, all = 0;  // squares
  for (int c = 0; c < classes; ++c) {
    // The derivatives of log p[c] are 1 - p[c] to its own logit, -p[j] to the others.
    const double error = std::sqrt(std::max(moved_by_all + (1 - 2 * p[c]) * image.v_logits[c], 0.0)),
                 relative = error + function_error * size, wanted = c == label ? 1 : 0;
    image.d_logits[c] = (p[c] - wanted) / images;
    image.v_d_logits[c] = squared((p[c] * std::expm1(relative) + 4 * unit * (p[c] + wanted)) / images);
    if (c == label) image.e_loss = relative + function_error * image.loss;
    errors += squared(p[c] * error);
    all += squared(p[c] - wanted);
  }
  image.relative = (all > 0 ? std::sqrt(errors / all) : 0) + function_error * size;
}

/// The convolutions, from the pixels. @returns an error of the given decisions
std::string convolve_all(const double* w, const std::uint8_t* grey, const Batch& batch, std::int64_t position,
                         const std::uint8_t* given, Image& image, std::int64_t& ties) {
  const Network& network = image.network;
  for (std::size_t i = 0; i < image.x.size(); ++i) image.x[i] = network.pixel(grey[i]);  // the inputs, exactly
  std::string wrong;
  for (int n = 0; n < network.count; ++n) {
    const Convolution& layer = network.convolutions[n];
    convolve(w, n, batch.arithmetic, image);
    const bool decided = given != nullptr && layer.decides;
    const std::string own = decide_windows(n, decided ? given + layer.decisions : nullptr, ties, image);
    if (wrong.empty()) wrong = own;
    pool(n, batch.dropout, batch.step, position, given != nullptr, image);
  }
  return wrong;
}

}  // namespace

std::string take_forward(const double* w, const Batch& batch, std::int64_t position, const Decisions* given,
                         Image& image, std::int64_t& ties) {
  const Network& network = image.network;
  const auto number = static_cast<std::size_t>(batch.order[static_cast<std::size_t>(position)]);
  const std::uint8_t* grey = batch.images.data() + number * image.x.size();
  const std::string wrong =
      convolve_all(w, grey, batch, position,
                   given != nullptr ? given->pool.data() + position * network.decisions() : nullptr, image, ties);
  const std::string wrong_hidden = dense(w, batch.dropout, batch.step, position,
                                         given != nullptr ? given->hidden.data() + position * network.hidden : nullptr,
                                         batch.arithmetic, ties, image);
  judge_label(image, batch.labels[number], static_cast<double>(batch.order.size()));
  return wrong.empty() ? wrong_hidden : wrong;
}

void take_forward(const double* w, const std::uint8_t* grey, const Arithmetic& arithmetic, Image& image) {
  std::int64_t ties = 0;
  static_cast<void>(convolve_all(w, grey, {.arithmetic = arithmetic}, 0, nullptr, image, ties));
  static_cast<void>(dense(w, {}, 0, 0, nullptr, arithmetic, ties, image));
}

}  // namespace league::cnn
