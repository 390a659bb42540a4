// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <type_traits>

#include "algorithms/blocks/words.hpp"
#include "algorithms/softmax_regression/common/step.hpp"

/// A row in registers: its features, and what becomes of its logits. Shared by the native methods.
namespace league::softmax_regression {

/// Four neighbouring features of a row, as stored, and as floats.
using Quad = blocks::Pack<float>;
template <class T>
using WordOf = std::conditional_t<std::is_same_v<T, float>, Quad, std::uint32_t>;

/// Rows whose gradients a thread adds in registers, in float, before it flushes them to memory.
inline constexpr int rows_together = 256;

/// Maximum team size: two teams per multiprocessor fit the registers.
inline constexpr int max_threads = 256;

/// Turns a row's logits into residuals; 0 for rows without a label and for padding classes. @returns its loss
LEAGUE_FUNCTION double finish_row(int classes, int label, float* z) {
  const double loss = label < 0 ? 0 : softmax_row(z, classes, label);
  for (int c = label < 0 ? 0 : classes; c < turns(classes) * classes_together; ++c) z[place_of(c)] = 0;
  return loss;
}
/// The same if all classes fit in one turn: the row stays in registers.
LEAGUE_FUNCTION double finish_turn(int classes, int label, float* z) {
  Quad all[turn_pitch / 4];
  for (int i = 0; i < turn_pitch / 4; ++i) all[i] = reinterpret_cast<const Quad*>(z)[i];
  const auto at = [&](int c) -> float& { return all[c / 4].values[c % 4]; };
  const float of_label = z[label < 0 ? 0 : label];
  float largest = no_logit, sum = 0;
  for (int c = 0; c < classes_together; ++c) {
    at(c) = c < classes ? at(c) : no_logit;
    largest = at(c) > largest ? at(c) : largest;
  }
  for (int c = 0; c < classes_together; ++c) sum += at(c) = expf(at(c) - largest);
  const float factor = label < 0 ? 0 : 1 / sum;
  for (int c = 0; c < turn_pitch; ++c) at(c) = c < classes_together ? at(c) * factor - (c == label ? 1.0F : 0.0F) : 0;
  for (int i = 0; i < turn_pitch / 4; ++i) reinterpret_cast<Quad*>(z)[i] = all[i];
  return label < 0 ? 0 : static_cast<double>(logf(sum) + (largest - of_label));
}

}  // namespace league::softmax_regression
