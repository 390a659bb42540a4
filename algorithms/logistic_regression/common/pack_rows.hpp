// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/pack.hpp"
#include "algorithms/blocks/sums.hpp"
#include "algorithms/blocks/unrolled.hpp"
#include "algorithms/logistic_regression/common/row.hpp"
#include "algorithms/logistic_regression/common/state.hpp"

/// A GPU thread's work on neighbouring rows, the same in every model.
namespace league::logistic {

/// The rows of a shard: [features x pitch], 16-byte aligned, as are the labels.
template <class T>
struct Rows {
  const T* columns;
  const std::uint8_t* labels;
  std::int64_t count, pitch;
  int features;
};

/// Rows per thread at a time: 16-byte loads.
template <class T>
inline constexpr int rows_at_once = 16 / static_cast<int>(sizeof(T));

/// Calls `add(pack)` with the first pack of each tile of `places` packs that a team takes in a step. Every other step
/// goes from the team's last tile to its first: it finds in the caches what the step before has read last. The step
/// is a device's own count, so that recorded steps turn too. (Two loops: one of either direction takes more registers.)
template <class T, class Add>
LEAGUE_FUNCTION void for_tiles(const Rows<T>& rows, const State& state, int places, std::int64_t rank,
                               std::int64_t teams, const Add& add) {
  const std::int64_t packs = (rows.count + rows_at_once<T> - 1) / rows_at_once<T>;
  const std::int64_t stride = teams * places;
  if (state.control[steps_queued] % 2 == 0 || packs <= stride)
    for (std::int64_t first = rank * places; first < packs; first += stride) add(first);
  else
    for (std::int64_t first = blocks::last_of(packs, rank * places, stride); first >= 0; first -= stride) add(first);
}

/// Features per thread; with more features, several threads share a row.
template <int features>
inline constexpr int features_per_thread = features < 16 ? features : 16;
template <int features>
inline constexpr int sharers = features / features_per_thread<features>;

/// By register use: team size and resident teams per multiprocessor, the defaults and the launch bounds.
template <int features>
inline constexpr int default_team = features <= 8 ? 256 : 128;
template <int features>
inline constexpr int default_teams = features <= 2   ? 4
                                     : features <= 8 ? 2
                                                     : 3;
/// A thread's sum of its rows. Float uses compensated summation (Kahan, Comm. ACM 8, 1965): conversions of every addend
/// to double would take a GPU longer than the memory traffic.
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

/// Calls `add.template operator()<whole>()`: whether pack `pack` and those before it have all their rows. (Two
/// versions: one for both spends a tenth of its instructions on rows that are not there.)
template <class T, class Add>
LEAGUE_FUNCTION void with_whole(const Rows<T>& rows, std::int64_t pack, const Add& add) {
  if ((pack + 1) * rows_at_once<T> <= rows.count)
    add.template operator()<true>();
  else
    add.template operator()<false>();
}

/// `taken` features of neighbouring rows, in registers from the logit to the gradient; labels beside them. `whole`: all
/// rows are there.
template <class T, int taken, bool whole = false>
struct Neighbours {
  static constexpr int rows = rows_at_once<T>;
  using Values = blocks::Pack<T, 16>;
  Values x[taken];
  blocks::Pack<std::uint8_t, rows> labels;
  std::int64_t left;  ///< remaining rows from the first of these on; none if <= 0

  /// Pack `pack` of rows, features from `feature` on, clamped to the last feature (a cache hit; its weight is 0 and its
  /// sums are unused): unconditional loads, so that all are in flight together.
  LEAGUE_FUNCTION Neighbours(const Rows<T>& all, std::int64_t pack, int feature) : left(all.count - pack * rows) {
    const std::int64_t first = whole || left > 0 ? pack * rows : 0;
    unrolled<taken>([&](int d) {
      const int column = feature + d < all.features ? feature + d : all.features - 1;
      x[d] = *reinterpret_cast<const Values*>(all.columns + column * all.pitch + first);
    });
    labels = *reinterpret_cast<const blocks::Pack<std::uint8_t, rows>*>(all.labels + first);
    if (!whole && left < rows)
      unrolled<taken>(
          [&](int d) { unrolled<rows>([&](int r) { x[d].values[r] = r < left ? x[d].values[r] : T{0}; }); });
  }
  /// Sum of weights[d] x[d].
  [[nodiscard]] LEAGUE_FUNCTION Values logits(const T* weights) const {
    Values z;
    unrolled<rows>([&](int r) { z.values[r] = weights[0] * x[0].values[r]; });
    unrolled<taken - 1>(
        [&](int d) { unrolled<rows>([&](int r) { z.values[r] += weights[d + 1] * x[d + 1].values[r]; }); });
    return z;
  }
  /// The terms of row `r` with logit z; beyond the last row those that add nothing.
  [[nodiscard]] LEAGUE_FUNCTION SharedTerms<T> terms(int r, T z) const {
    const SharedTerms<T> terms = shared_terms(z, static_cast<T>(labels.values[r]));
    return whole || r < left ? terms : SharedTerms<T>{0, 0, 0, 1};
  }
};

/// Features per pass of `unfused`.
inline constexpr int features_per_pass = 8;

/// Logits of pack `pack` of rows; weights are zero-padded.
template <class T>
LEAGUE_FUNCTION blocks::Pack<T, 16> pack_logits(const Rows<T>& rows, std::int64_t pack, const T* weights) {
  blocks::Pack<T, 16> z;
  unrolled<rows_at_once<T>>([&](int r) { z.values[r] = weights[0]; });
  for (int d = 0; d < rows.features; d += features_per_pass)
    z = z + Neighbours<T, features_per_pass>(rows, pack, d).logits(weights + 1 + d);
  return z;
}

/// Adds loss and the intercept's gradient of logits z. @returns the residuals
template <class T>
LEAGUE_FUNCTION blocks::Pack<T, 16> pack_terms(const Rows<T>& rows, std::int64_t pack, blocks::Pack<T, 16> z,
                                               T intercept, ThreadSum<T> (&sums)[2]) {
  const Neighbours<T, 1> mine(rows, pack, 0);  // for its labels; the feature is not used
  SharedLoss<T> loss;
  T slope = 0;
  unrolled<rows_at_once<T>>([&](int r) {
    const SharedTerms<T> terms = mine.terms(r, z.values[r] + intercept);
    z.values[r] = terms.residual;
    loss.add(terms);
    slope += terms.residual;
  });
  sums[0].add(loss.value());
  sums[1].add(slope);
  return z;
}

/// Adds the gradient of features from `feature` on.
template <class T>
LEAGUE_FUNCTION void pack_gradient(const Rows<T>& rows, std::int64_t pack, int feature,
                                   const blocks::Pack<T, 16>& residual, ThreadSum<T> (&sums)[features_per_pass]) {
  const Neighbours<T, features_per_pass> mine(rows, pack, feature);
  unrolled<features_per_pass>([&](int d) {
    T part = 0;
    unrolled<rows_at_once<T>>([&](int r) { part += r < mine.left ? residual.values[r] * mine.x[d].values[r] : T{0}; });
    sums[d].add(part);
  });
}

/// Adds the loss, the intercept's gradient, and the gradient of this thread's features. `z`: logits without the
/// intercept. Of threads that share rows, the first adds loss and intercept.
template <class T, int taken, bool whole>
LEAGUE_FUNCTION void add_gradient(const Neighbours<T, taken, whole>& mine, const blocks::Pack<T, 16>& z, T intercept,
                                  bool is_first, ThreadSum<T> (&sums)[taken + 2]) {
  constexpr int rows = rows_at_once<T>;
  SharedLoss<T> loss;
  T residual[rows], slope = 0;
  unrolled<rows>([&](int r) {
    const SharedTerms<T> terms = mine.terms(r, z.values[r] + intercept);
    residual[r] = terms.residual;
    loss.add(terms);
    slope += terms.residual;
  });
  if (is_first) {
    sums[0].add(loss.value());
    sums[1].add(slope);
  }
  unrolled<taken>([&](int d) {
    T part = 0;
    unrolled<rows>([&](int r) { part += residual[r] * mine.x[d].values[r]; });
    sums[d + 2].add(part);
  });
}

/// Adds the tiles of a team: threads that share rows add their logits through `board`, two values of 16 bytes per
/// thread. `weights`: theta in T, zero-padded. @pre all threads call
template <int features, class T, class Barrier>
LEAGUE_FUNCTION void add_tiles(const Group<Barrier>& team, const Rows<T>& rows, const State& state, const T* weights,
                               std::int64_t rank, std::int64_t teams, blocks::Pack<T, 16>* board,
                               ThreadSum<T> (&mine)[features_per_thread<features> + 2]) {
  constexpr int taken = features_per_thread<features>, groups = sharers<features>;
  const int places = team.size / groups, group = team.rank / places, place = team.rank % places;
  int turn = 0;
  for_tiles(rows, state, places, rank, teams, [&](std::int64_t first) {
    with_whole(rows, first + places - 1, [&]<bool whole>() {
      const Neighbours<T, taken, whole> neighbours(rows, first + place, group * taken);
      blocks::Pack<T, 16> z = neighbours.logits(weights + 1 + group * taken);
      if constexpr (groups > 1) {
        board[turn + team.rank] = z;
        team.barrier();
        z = board[turn + place];
        for (int other = 1; other < groups; ++other) z = z + board[turn + other * places + place];
        turn = team.size - turn;
      }
      add_gradient(neighbours, z, weights[0], group == 0, mine);
    });
  });
}

/// Adds the threads' sums over a team: `put(i, sum)` is called once for each of `gradient_sums(rows.features)`.
/// `at_once`: values in a round of `team_sums`. @pre all threads call
template <int features, int at_once = blocks::values_at_once, class T, class Barrier, class Put>
LEAGUE_FUNCTION void add_team(const Group<Barrier>& team, const Rows<T>& rows,
                              const ThreadSum<T> (&mine)[features_per_thread<features> + 2], double* scratch,
                              const Put& put) {
  constexpr int taken = features_per_thread<features>;
  const int sums = gradient_sums(rows.features);
  team_sums<taken + 2, sharers<features>, at_once>(
      team, [&](int i) { return mine[i].value(); }, scratch,
      [&](int i, int of, double sum) {
        const int place = i < 2 ? i : of * taken + i;
        if (place < sums && (i >= 2 || of == 0)) put(place, sum);
      });
  team.barrier();
}

}  // namespace league::logistic
