// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/pack.hpp"
#include "algorithms/blocks/unrolled.hpp"
#include "algorithms/logistic_regression/row.hpp"
#include "algorithms/logistic_regression/state.hpp"

/// What a GPU thread does with neighbouring rows: the same in every model.
namespace league::logistic {

/// The rows of a shard: features one after another [features x pitch], 16-byte aligned, as are the labels.
template <class T>
struct Rows {
  const T* columns;
  const std::uint8_t* labels;
  std::int64_t count, pitch;
  int features;
};

/// Rows that a thread takes together: 16-byte loads.
template <class T>
inline constexpr int rows_at_once = 16 / static_cast<int>(sizeof(T));

/// Features of a row that one thread takes; where there are more, so many threads share a row.
template <int features>
inline constexpr int features_a_thread = features < 16 ? features : 16;
template <int features>
inline constexpr int sharers = features / features_a_thread<features>;

/// The method's choice, given the registers of a thread: threads of a team, and teams that a multiprocessor holds; and
/// what is asked of the compiler, teams of 256 threads.
template <int features>
inline constexpr int standard_team = features <= 8 ? 256 : 128;
template <int features>
inline constexpr int standard_teams = features <= 8 ? 2 : 3;
template <int features>
inline constexpr int teams_at_least = features <= 8 ? 2 : 1;

/// What a thread adds its rows in. Float takes the digits that it loses along (Kahan, Comm. ACM 8, 1965): a conversion
/// to double for every addend would take a GPU longer than its memory does.
template <class T>
struct ThreadSum {
  T sum = 0, surplus = 0;
  LEAGUE_FUNCTION void add(T value) {
    const T corrected = value - surplus, next = sum + corrected;
    surplus = (next - sum) - corrected;
    sum = next;
  }
  [[nodiscard]] LEAGUE_FUNCTION double value() const { return static_cast<double>(sum) - static_cast<double>(surplus); }
};
template <>
struct ThreadSum<double> {
  double sum = 0;
  LEAGUE_FUNCTION void add(double value) { sum += value; }
  [[nodiscard]] LEAGUE_FUNCTION double value() const { return sum; }
};

/// `taken` features of neighbouring rows, in registers from the logit to the gradient; labels beside them.
template <class T, int taken>
struct Neighbours {
  static constexpr int rows = rows_at_once<T>;
  using Values = blocks::Pack<T, 16>;
  Values x[taken];
  blocks::Pack<std::uint8_t, rows> labels;
  std::int64_t left;  ///< rows from the first of these on; none where it is not above 0

  /// Pack number `pack` of rows, features from `feature` on. One behind the last is the last once more, which takes no
  /// traffic: its weight is 0, its sums are not looked at. So every load is made, and none waits for another.
  LEAGUE_FUNCTION Neighbours(const Rows<T>& all, std::int64_t pack, int feature) : left(all.count - pack * rows) {
    const std::int64_t first = left > 0 ? pack * rows : 0;
    unrolled<taken>([&](int d) {
      const int column = feature + d < all.features ? feature + d : all.features - 1;
      x[d] = *reinterpret_cast<const Values*>(all.columns + column * all.pitch + first);
    });
    labels = *reinterpret_cast<const blocks::Pack<std::uint8_t, rows>*>(all.labels + first);
    if (left < rows)
      unrolled<taken>(
          [&](int d) { unrolled<rows>([&](int r) { x[d].values[r] = r < left ? x[d].values[r] : T{0}; }); });
  }
  /// The sums of weights[d] x[d].
  [[nodiscard]] LEAGUE_FUNCTION Values logits(const T* weights) const {
    Values z;
    unrolled<rows>([&](int r) { z.values[r] = weights[0] * x[0].values[r]; });
    unrolled<taken - 1>(
        [&](int d) { unrolled<rows>([&](int r) { z.values[r] += weights[d + 1] * x[d + 1].values[r]; }); });
    return z;
  }
  /// What row `r` with logit z adds: nothing where there is no row.
  [[nodiscard]] LEAGUE_FUNCTION RowTerms<T> terms(int r, T z) const {
    const RowTerms<T> terms = row_terms(z, static_cast<T>(labels.values[r]));
    return r < left ? terms : RowTerms<T>{};
  }
};

/// Features that a pass of `unfused` takes at a time.
inline constexpr int features_a_pass = 8;

/// Logits of pack number `pack` of rows; weights behind the last feature are 0.
template <class T>
LEAGUE_FUNCTION blocks::Pack<T, 16> pack_logits(const Rows<T>& rows, std::int64_t pack, const T* weights) {
  blocks::Pack<T, 16> z;
  unrolled<rows_at_once<T>>([&](int r) { z.values[r] = weights[0]; });
  for (int d = 0; d < rows.features; d += features_a_pass)
    z = z + Neighbours<T, features_a_pass>(rows, pack, d).logits(weights + 1 + d);
  return z;
}

/// Adds loss and the intercept's gradient of logits z. @returns what is left of the labels
template <class T>
LEAGUE_FUNCTION blocks::Pack<T, 16> pack_terms(const Rows<T>& rows, std::int64_t pack, blocks::Pack<T, 16> z,
                                               T intercept, ThreadSum<T> (&sums)[2]) {
  const Neighbours<T, 1> mine(rows, pack, 0);  // for its labels; the feature is not looked at
  T loss = 0, slope = 0;
  unrolled<rows_at_once<T>>([&](int r) {
    const RowTerms<T> terms = mine.terms(r, z.values[r] + intercept);
    z.values[r] = terms.excess;
    loss += terms.loss;
    slope += terms.excess;
  });
  sums[0].add(loss);
  sums[1].add(slope);
  return z;
}

/// Adds the gradient of features from `feature` on.
template <class T>
LEAGUE_FUNCTION void pack_gradient(const Rows<T>& rows, std::int64_t pack, int feature,
                                   const blocks::Pack<T, 16>& excess, ThreadSum<T> (&sums)[features_a_pass]) {
  const Neighbours<T, features_a_pass> mine(rows, pack, feature);
  unrolled<features_a_pass>([&](int d) {
    T part = 0;
    unrolled<rows_at_once<T>>([&](int r) { part += r < mine.left ? excess.values[r] * mine.x[d].values[r] : T{0}; });
    sums[d].add(part);
  });
}

/// Adds loss and gradient: the loss, the intercept's, and those of the features taken. `z`: logits but for the
/// intercept. Threads that share rows leave the first two to the first of them.
template <class T, int taken>
LEAGUE_FUNCTION void add_gradient(const Neighbours<T, taken>& mine, const blocks::Pack<T, 16>& z, T intercept,
                                  bool is_first, ThreadSum<T> (&sums)[taken + 2]) {
  constexpr int rows = Neighbours<T, taken>::rows;
  T excess[rows], loss = 0, slope = 0;
  unrolled<rows>([&](int r) {
    const RowTerms<T> terms = mine.terms(r, z.values[r] + intercept);
    excess[r] = terms.excess;
    loss += terms.loss;
    slope += terms.excess;
  });
  if (is_first) {
    sums[0].add(loss);
    sums[1].add(slope);
  }
  unrolled<taken>([&](int d) {
    T part = 0;
    unrolled<rows>([&](int r) { part += excess[r] * mine.x[d].values[r]; });
    sums[d + 2].add(part);
  });
}

}  // namespace league::logistic
