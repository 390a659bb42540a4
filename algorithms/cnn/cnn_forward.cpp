// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cmath>

#include "algorithms/cnn/cnn_image.hpp"

namespace league::cnn {
namespace {

void convolve1(const double* w, const std::uint8_t* grey, const Arithmetic& arithmetic, Image& image) {
  const double products = product_error(channels1 * taps, arithmetic, Rounded::forward),
               own = product_error(taps, arithmetic, Rounded::all);
  for (int i = 0; i < pixels; ++i) image.x[i] = pixel<float>(grey[i]);  // the network's inputs, exactly
  for (int c = 0; c < channels1; ++c) {
    const double* kernel = w + conv1_weights + c * taps;
    const double bias = w[conv1_biases + c];
    for (int y = 0; y < side1; ++y)
      for (int x = 0; x < side1; ++x) {
        double sum = bias, squares = squared(bias);
        for (int t = 0; t < taps; ++t) {
          const double product = factor(kernel[t], arithmetic, Rounded::all) *
                                 factor(image.x[(y + t / 3) * side + x + t % 3], arithmetic, Rounded::all);
          sum += product;
          squares += squared(product);
        }
        const int at = y * side1 + x;
        image.z1[c][at] = sum;
        image.a1[c][at] = std::max(sum, 0.0);
        image.v_a1[c][at] = own * squares + whole_error(taps) * squared(sum);
        image.noise[c][at] = static_cast<float>(image.v_a1[c][at] + products * squared(image.a1[c][at]));
      }
  }
}

/// `sums[x] += kernel * rows`, for a row of the second convolution.
template <class T>
void add_taps(const T (&plane)[side1 * side1], int y, const T (&kernel)[taps], T (&sums)[side2]) {
  for (int t = 0; t < taps; ++t) {
    const T* row = plane + (y + t / 3) * side1 + t % 3;
    for (int x = 0; x < side2; ++x) sums[x] += kernel[t] * row[x];
  }
}

void convolve2(const double* w, const Arithmetic& arithmetic, Image& image) {
  constexpr double terms = channels1 * taps;
  const auto of = [&](double value) { return factor(value, arithmetic, Rounded::forward); };
  double planes[channels1][side1 * side1];
  for (int c = 0; c < channels1; ++c) std::transform(image.a1[c], std::end(image.a1[c]), planes[c], of);
  for (int o = 0; o < channels2; ++o) {
    const double bias = w[conv2_biases + o];
    for (int y = 0; y < side2; ++y) {
      double sums[side2];
      float errors[side2];
      std::fill_n(sums, side2, bias);
      std::fill_n(errors, side2, static_cast<float>(sum_error(terms) * squared(bias)));
      for (int c = 0; c < channels1; ++c) {
        double kernel[taps];
        float squares[taps];
        std::transform(w + conv2_weights + (o * channels1 + c) * taps,
                       w + conv2_weights + (o * channels1 + c + 1) * taps, kernel, of);
        std::transform(kernel, kernel + taps, squares,
                       [](double weight) { return static_cast<float>(weight * weight); });
        add_taps(planes[c], y, kernel, sums);
        add_taps(image.noise[c], y, squares, errors);
      }
      for (int x = 0; x < side2; ++x) {
        image.z2[o][y * side2 + x] = sums[x];
        image.v_z2[o][y * side2 + x] = errors[x] + static_cast<float>(whole_error(terms) * squared(sums[x]));
      }
    }
  }
}

/// The maximum of each window; with `given`, the value that a variant has chosen. @returns an error of the choice
std::string decide_windows(Image& image, const std::uint8_t* given, std::int64_t& ties) {
  std::string wrong;
  for (int k = 0; k < pooled; ++k) {
    const int o = k / windows, window = k % windows;
    const auto value = [&](int place) { return image.z2[o][position_of(window, place)]; };
    const auto bound = [&](int place) { return std::sqrt(image.v_z2[o][position_of(window, place)]); };
    int best = 0;
    for (int place = 1; place < 4; ++place)
      if (value(place) > value(best)) best = place;
    const std::uint8_t own = Decision::of(best, value(best) > 0);
    image.decision[k] = own;
    if (given == nullptr || given[k] == own) continue;
    const int place = Decision::place(given[k]);
    const bool near = value(best) - value(place) <= bound(best) + bound(place);
    const bool sign = Decision::live(given[k]) == (value(place) > 0) || std::abs(value(place)) <= bound(place);
    if (given[k] > Decision::of(3, true) || !near || !sign) {
      if (wrong.empty())
        wrong = "channel " + std::to_string(o) + ", window " + std::to_string(window / pooled_side) + ", " +
                std::to_string(window % pooled_side) + ": decision " + std::to_string(int{given[k]}) + ", expected " +
                std::to_string(int{own});
      continue;
    }
    // If the maximum is not above 0, its position does not matter.
    if (Decision::live(given[k]) || Decision::live(own)) ++ties;
    image.decision[k] = given[k];
  }
  return wrong;
}

/// `followed`: with a variant's decisions; values that they set to 0 have no error.
void pool(Image& image, const Dropout& dropout, std::int64_t step, std::int64_t position, bool followed) {
  const auto scale = dropout.pooled_scale<double>();
  std::uint64_t word = 0;
  for (int k = 0; k < pooled; ++k) {
    if (k % 32 == 0) word = dropout.word(step, position, k / 32);
    const bool live = Decision::live(image.decision[k]);
    const int at = position_of(k % windows, Decision::place(image.decision[k]));
    const double factor = Dropout::keeps_pooled(word, k) ? scale : 0;
    image.p[k] = live ? factor * image.z2[k / windows][at] : 0;
    image.v_p[k] =
        followed && !live ? 0 : squared(factor) * image.v_z2[k / windows][at] + whole_error(1) * squared(image.p[k]);
  }
}

/// @returns an error of a variant's decisions
std::string dense(const double* w, const Dropout& dropout, std::int64_t step, std::int64_t position,
                  const std::uint8_t* given, const Arithmetic& arithmetic, std::int64_t& ties, Image& image) {
  std::string wrong;
  double noise[pooled];
  const double products = product_error(pooled, arithmetic, Rounded::forward),
               last = product_error(hidden, arithmetic, Rounded::all);
  const auto of = [&](double value) { return factor(value, arithmetic, Rounded::forward); };
  double inputs[pooled];
  std::transform(image.p, std::end(image.p), inputs, of);
  for (int k = 0; k < pooled; ++k) noise[k] = image.v_p[k] + products * squared(image.p[k]);
  for (int j = 0; j < hidden; ++j) {
    const double* row = w + fc1_weights + j * pooled;
    const double bias = w[fc1_biases + j];
    double sum = bias, error = sum_error(pooled) * squared(bias);
    for (int k = 0; k < pooled; ++k) {
      sum += of(row[k]) * inputs[k];
      error += squared(row[k]) * noise[k];
    }
    error += whole_error(pooled) * squared(sum);
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
    const bool kept = Dropout::keeps_hidden(dropout.word(step, position, Dropout::pooled_words + j / 64), j);
    const double factor = kept ? dropout.hidden_scale<double>() : 0;
    image.h_factor[j] = live ? factor : 0;
    image.h[j] = image.h_factor[j] * sum;
    image.v_h[j] = live || given == nullptr ? squared(factor) * error : 0;
  }
  for (int c = 0; c < classes; ++c) {
    const double* row = w + fc2_weights + c * hidden;
    double sum = w[fc2_biases + c], error = sum_error(hidden) * squared(sum);
    for (int j = 0; j < hidden; ++j) {
      sum += factor(row[j], arithmetic, Rounded::all) * factor(image.h[j], arithmetic, Rounded::all);
      error += squared(row[j]) * (image.v_h[j] + last * squared(image.h[j]));
    }
    image.logits[c] = sum;
    image.v_logits[c] = error + whole_error(hidden) * squared(sum);
  }
  return wrong;
}

void judge_label(Image& image, int label, double images) {
  const double largest = *std::max_element(image.logits, image.logits + classes);
  double sum = 0, size = 1, error = 0;
  for (int c = 0; c < classes; ++c) {
    sum += std::exp(image.logits[c] - largest);
    size = std::max(size, std::abs(image.logits[c]));
    error = std::max(error, std::sqrt(image.v_logits[c]));
  }
  image.relative = 2 * error + function_error * size;
  image.loss = largest + std::log(sum) - image.logits[label];
  image.e_loss = image.relative + function_error * image.loss;
  for (int c = 0; c < classes; ++c) {
    const double p = std::exp(image.logits[c] - largest) / sum, wanted = c == label ? 1 : 0;
    image.d_logits[c] = (p - wanted) / images;
    image.v_d_logits[c] = squared((p * std::expm1(image.relative) + 4 * unit * (p + wanted)) / images);
  }
}

}  // namespace

std::string take_forward(const double* w, const Batch& batch, std::int64_t position, const Decisions* given,
                         Image& image, std::int64_t& ties) {
  const auto number = static_cast<std::size_t>(batch.order[static_cast<std::size_t>(position)]);
  convolve1(w, batch.images.data() + number * pixels, batch.arithmetic, image);
  convolve2(w, batch.arithmetic, image);
  const std::string wrong =
      decide_windows(image, given != nullptr ? given->pool.data() + position * pooled : nullptr, ties);
  pool(image, batch.dropout, batch.step, position, given != nullptr);
  const std::string wrong_hidden =
      dense(w, batch.dropout, batch.step, position,
            given != nullptr ? given->hidden.data() + position * hidden : nullptr, batch.arithmetic, ties, image);
  judge_label(image, batch.labels[number], static_cast<double>(batch.order.size()));
  return wrong.empty() ? wrong_hidden : wrong;
}

void take_forward(const double* w, const std::uint8_t* grey, const Arithmetic& arithmetic, Image& image) {
  std::int64_t ties = 0;
  convolve1(w, grey, arithmetic, image);
  convolve2(w, arithmetic, image);
  static_cast<void>(decide_windows(image, nullptr, ties));
  pool(image, {}, 0, 0, false);
  static_cast<void>(dense(w, {}, 0, 0, nullptr, arithmetic, ties, image));
}

}  // namespace league::cnn
