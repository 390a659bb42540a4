// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstdint>

#include "algorithms/blocks/unrolled.hpp"
#include "backends/portable.hpp"

/// Shared by all models: the batch of a step, the softmax of a row, the update.
namespace league::softmax_regression {

/// Classes whose sums a thread keeps in registers at once: ten, as MNIST has. More classes take several turns.
inline constexpr int classes_together = 10;
constexpr LEAGUE_FUNCTION int turns(int classes) { return (classes + classes_together - 1) / classes_together; }
/// Floats per row and turn of logits, later residuals: padded to a multiple of 16 bytes.
inline constexpr int turn_pitch = 12;
/// Logit of a padding class: its exponential is 0.
inline constexpr float no_logit = -3e38F;
LEAGUE_FUNCTION int place_of(int c) { return c / classes_together * turn_pitch + c % classes_together; }

/// Rows [first, last).
struct Rows {
  std::int64_t first, last;
};

/// What the steps of a descent on one device take, and how a parameter is updated.
struct Rule {
  std::int64_t all_rows, batch, batches;   ///< of the problem; rows per batch; number of batches
  std::int64_t own_batch, own_last_batch;  ///< rows of this shard in a batch, and in the last one
  bool is_first;                           ///< of all shards
  int features, classes, pitch;
  double learning_rate, l2, scale;

  /// Columns of the partial sums: [classes][pitch], then the loss.
  [[nodiscard]] LEAGUE_FUNCTION int columns() const { return classes * pitch + 1; }

  /// The rows of a step, by global index.
  [[nodiscard]] LEAGUE_FUNCTION Rows batch_of(std::int64_t step) const {
    const std::int64_t first = batches == 1 ? 0 : step % batches * batch;
    return {first, first + batch < all_rows ? first + batch : all_rows};
  }
  /// Those of this shard, by local index.
  [[nodiscard]] LEAGUE_FUNCTION Rows own_rows(std::int64_t step) const {
    return own_rows_of(batches == 1 ? 0 : step % batches);
  }
  /// The same of batch `number`.
  [[nodiscard]] LEAGUE_FUNCTION Rows own_rows_of(std::int64_t number) const {
    const std::int64_t first = number * own_batch;
    return {first, first + (number + 1 < batches ? own_batch : own_last_batch)};
  }
  /// The number of rows of a step on all shards.
  [[nodiscard]] LEAGUE_FUNCTION double rows_of(std::int64_t step) const {
    const Rows all = batch_of(step);
    return static_cast<double>(all.last - all.first);
  }
  /// A parameter of feature `f` after a step: `mean` is that of the residuals times the feature as stored.
  [[nodiscard]] LEAGUE_FUNCTION double after_step(double parameter, int f, double mean) const {
    const double penalty = f < features ? l2 * parameter : 0;
    return parameter - learning_rate * (mean * scale + penalty);
  }
};

/// The state of a descent on one device, and its update. Weights are theta times `scale`, rounded to float and
/// zero-padded.
struct Descent : Rule {
  double* theta;          ///< [features + 1 x classes]
  float* weights;         ///< [classes and more x weights_pitch]
  double* loss;           ///< [steps]
  std::int64_t* taken;    ///< completed steps: `accumulate` reads it, `update` writes it
  std::int64_t* current;  ///< current step: written by `accumulate`, read by `update` (no read-write race)
  int weights_pitch;

  /// The share of thread `thread` of `threads` in the penalty, which the first shard adds to the loss.
  [[nodiscard]] LEAGUE_FUNCTION double penalty(std::int64_t step, int thread, int threads) const {
    if (l2 == 0 || !is_first) return 0;
    double sum = 0;
    for (int i = thread; i < features * classes; i += threads) sum += theta[i] * theta[i];
    return sum * l2 / 2 * rows_of(step);
  }
  /// What the update of a column reads besides its sum: a kernel can read it first, while the sum is on its way.
  struct Before {
    std::int64_t step;
    double parameter, rows;  ///< the column's parameter, if it has one; rows of the batch
  };
  [[nodiscard]] LEAGUE_FUNCTION Before before(int column) const {
    const int c = column / pitch, f = column % pitch;
    const std::int64_t step = *current;
    return {step, c < classes && f <= features ? theta[f * classes + c] : 0, rows_of(step)};
  }
  /// Updates column `column`, whose sum over all rows is `sum`.
  LEAGUE_FUNCTION void take(int column, double sum, const Before& before) const {
    const double mean = sum / before.rows;
    if (column == classes * pitch) {
      loss[before.step] = mean;
      *taken = before.step + 1;
      return;
    }
    const int c = column / pitch, f = column % pitch;
    if (f > features) return;
    const double parameter = after_step(before.parameter, f, mean);
    theta[f * classes + c] = parameter;
    weights[c * weights_pitch + f] = static_cast<float>(parameter * scale);
  }
  LEAGUE_FUNCTION void take(int column, double sum) const { take(column, sum, before(column)); }
};

/// The sum of value(part), value(part + parts), ... below value(count), in this order. `together` values are read
/// before they are added, so that reads overlap; beyond the last, it is read again and multiplied with 0: compilers
/// would make reads wait for a condition on each.
template <int together, class Value>
LEAGUE_FUNCTION double sum_of_part(int part, int parts, int count, const Value& value) {
  const int own = (count - part + parts - 1) / parts;
  double sum = 0;
  for (int first = 0; first < own; first += together) {
    decltype(value(0)) next[together];
    blocks::unrolled<together>([&](int n) {
      const int i = first + n < own ? first + n : own - 1;
      next[n] = value(part + i * parts);
    });
    blocks::unrolled<together>([&](int n) { sum += static_cast<double>(next[n] * (first + n < own ? 1 : 0)); });
  }
  return sum;
}

/// Layout of a row's logits: by turns, or contiguous.
struct InTurns {
  LEAGUE_FUNCTION int operator()(int c) const { return place_of(c); }
};
struct InOrder {
  LEAGUE_FUNCTION int operator()(int c) const { return c; }
};

/// Turns a row's logits into residuals p - y. @returns the row's loss
template <class Place = InTurns>
LEAGUE_FUNCTION double softmax_row(float* z, int classes, int label, const Place& place = {}) {
  float largest = z[place(0)];
  for (int c = 1; c < classes; ++c) largest = z[place(c)] > largest ? z[place(c)] : largest;
  const float of_label = z[place(label)];
  float sum = 0;
  for (int c = 0; c < classes; ++c) sum += z[place(c)] = expf(z[place(c)] - largest);
  const float factor = 1 / sum;
  for (int c = 0; c < classes; ++c) z[place(c)] = z[place(c)] * factor - (c == label ? 1.0F : 0.0F);
  return static_cast<double>(logf(sum) + (largest - of_label));
}

}  // namespace league::softmax_regression
