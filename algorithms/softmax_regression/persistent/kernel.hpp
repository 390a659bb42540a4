// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

#include "algorithms/blocks/group.hpp"
#include "algorithms/blocks/league_all_reduce.hpp"
#include "algorithms/blocks/recomputed.hpp"
#include "algorithms/blocks/unrolled.hpp"
#include "algorithms/softmax_regression/common/row.hpp"

/// The method `persistent`, for few features and classes, the same in CUDA and Kokkos: one launch for all steps. A
/// thread takes a row at a time and keeps the sums of its rows' gradients in registers. Every team adds its threads'
/// sums, gets those of all teams, and takes the same step from them. `quads`: of features, the constant one included;
/// `Words`: see blocks/words.hpp.
namespace league::softmax_regression {

/// The most features: stored rows have the constant one too, and a pitch of 16 values.
inline constexpr int few_features = 15, few_pitch = few_features + 1;
/// Rows that a thread adds in float before a flush: with the sums over a team's threads at most `rows_together` terms.
inline constexpr int rows_of_thread = 224;
/// Threads that add the sums of all threads of a team for one value.
inline constexpr int parts_of_team = 8;
static_assert(rows_of_thread + max_threads / parts_of_team <= rows_together);

/// Teams of `max_threads` threads on a multiprocessor, for the compiler: limited by registers.
template <int quads>
inline constexpr int teams_with_registers = quads == 1 ? 2 : 1;

/// Arguments of its kernel.
template <class T>
struct PersistentWork {
  const T* x;  ///< [rows x few_pitch]
  const std::int32_t* labels;
  Descent descent;       ///< without weights: each team has its own
  stamped::Word* board;  ///< [blocks::all_reduce_words]
  std::int64_t steps;
};

/// The sums of a step: [classes][features + 1], then the loss.
LEAGUE_FUNCTION constexpr int persistent_sums(int classes, int features) { return classes * (features + 1) + 1; }

/// What a team keeps in scratch. Its threads' sums are added in rounds of `at_once` values of each, at most `most`.
template <int quads, int most>
struct PersistentScratch {
  static constexpr int features = 4 * quads, values = classes_together * features;
  static constexpr int rounds = (values + most - 1) / most, at_once = (values + rounds - 1) / rounds;

  struct OfThreads {
    double losses[max_threads];
    float values[at_once][max_threads];
  };
  double parts[parts_of_team][at_once + 1];
  double theta[values];     ///< as in `Descent`
  double sums[values + 2];  ///< [persistent_sums]
  Quad weights[classes_together][quads];
  union {
    OfThreads of_threads;
    double received[max_threads];  ///< for the sums over the league
  };
};

/// A row as stored, and its label, in as few loads as possible.
template <class T, int quads>
struct StoredRow {
  WordOf<T> words[quads] = {};
  int label = 0;

  LEAGUE_FUNCTION static StoredRow load(const PersistentWork<T>& work, std::int64_t index) {
    StoredRow row;
    const T* x = work.x + index * few_pitch;
    if constexpr (sizeof(T) == 1) {
      const auto all = *reinterpret_cast<const blocks::Pack<std::uint32_t, quads == 3 ? 16 : 4 * quads>*>(x);
      blocks::unrolled<quads>([&](int q) { row.words[q] = all.values[q]; });
    } else {
      blocks::unrolled<quads>([&](int q) { row.words[q] = reinterpret_cast<const Quad*>(x)[q]; });
    }
    row.label = work.labels[index];
    return row;
  }
};

/// The sums of a thread's rows in float.
template <int quads>
using RowSums = Quad[classes_together][quads];

/// Rows whose sums of exponentials are multiplied before the logarithm for their losses: 10^32 fits in a float.
inline constexpr int product_of_rows = 32;
static_assert(classes_together <= 10 && rows_of_thread % product_of_rows == 0);

/// Adds the residuals of a row times its features, and multiplies `product` with the sum of its exponentials. Logits
/// are to base 2, for which GPUs have an instruction. @returns the largest less that of the label
template <class Words, class T, int quads>
LEAGUE_FUNCTION double add_row(const StoredRow<T, quads>& row, const Quad* weights, float& product,
                               RowSums<quads>& sums) {
  using blocks::unrolled;
  constexpr int half = classes_together / 2;
  Quad x[quads];
  unrolled<quads>([&](int q) { x[q] = Words::widen(row.words[q]); });
  float z[classes_together], is_label[classes_together];
  unrolled<classes_together>([&](int c) {
    z[c] = 0;
    unrolled<quads>([&](int q) {
      const Quad w = weights[c * quads + q];
      unrolled<4>([&](int k) { z[c] += x[q].values[k] * w.values[k]; });
    });
  });
  float largest = fmaxf(z[0], z[half]), above = 0, sum = 0;
  unrolled<half - 1>([&](int c) { largest = fmaxf(largest, fmaxf(z[c + 1], z[c + 1 + half])); });
  unrolled<classes_together>([&](int c) {
    z[c] -= largest;
    is_label[c] = c == row.label ? 1.0F : 0.0F;
    above -= is_label[c] * z[c];
    z[c] = exp2f(z[c]);
  });
  unrolled<half>([&](int c) { sum += z[c] + z[c + half]; });
  product *= sum;
  const float factor = 1 / sum;
  unrolled<classes_together>([&](int c) {
    const float residual = z[c] * factor - is_label[c];
    unrolled<quads>([&](int q) { unrolled<4>([&](int k) { sums[c][q].values[k] += residual * x[q].values[k]; }); });
  });
  return static_cast<double>(above);
}

/// The sum of every `parts_of_team`-th 16 bytes of the values of `threads` threads, padded with zeros.
template <class F>
LEAGUE_FUNCTION double sum_of_packs(const F* values, int part, int threads) {
  using Pack = blocks::Pack<F, 16>;
  constexpr int together = 8, most = max_threads / (parts_of_team * Pack::size);
  const int packs = (threads + Pack::size - 1) / Pack::size;
  Pack sum{};
  blocks::unrolled<most / together>([&](int turn) {
    Pack next[together];
    blocks::unrolled<together>([&](int n) {
      const int i = part + (turn * together + n) * parts_of_team;
      next[n] = i < packs ? reinterpret_cast<const Pack*>(values)[i] : Pack{};
    });
    sum = sum + blocks::sum_in_pairs(next);
  });
  return static_cast<double>(blocks::sum_in_pairs(sum.values));
}

/// Zeros after the values of all threads, to whole packs.
template <int quads, int most, class Barrier>
LEAGUE_FUNCTION void pad(const blocks::Group<Barrier>& team, PersistentScratch<quads, most>& own) {
  const int padding = (4 - team.size % 4) % 4;
  for (int k = team.rank; k < own.at_once; k += team.size)
    for (int i = 0; i < padding; ++i) own.of_threads.values[k][team.size + i] = 0;
}

/// Adds the sums and losses of all threads of a team to `own.sums`, or stores them if they are the step's first.
/// @pre a barrier since the last use of `own`; `pad` before the first. Ends with a barrier
template <int quads, int most, class Barrier>
LEAGUE_FUNCTION void add_threads(const blocks::Group<Barrier>& team, const RowSums<quads>& of_thread, double loss,
                                 bool is_first, const Descent& descent, PersistentScratch<quads, most>& own) {
  using Own = PersistentScratch<quads, most>;
  constexpr int at_once = Own::at_once;
  blocks::unrolled<Own::rounds>([&](int round) {
    const int begin = round * at_once, sums = at_once + (round == 0 ? 1 : 0);
    blocks::unrolled<at_once>([&](int k) {
      const int value = begin + k < Own::values ? begin + k : 0;
      own.of_threads.values[k][team.rank] = of_thread[value / Own::features][value / 4 % quads].values[value % 4];
    });
    if (round == 0) own.of_threads.losses[team.rank] = loss;
    if (round == 0 && team.size % 2 != 0 && team.rank == 0) own.of_threads.losses[team.size] = 0;
    team.barrier();
    for (int item = team.rank; item < sums * parts_of_team; item += team.size) {
      const int k = item / parts_of_team, part = item % parts_of_team;
      own.parts[part][k] = k < at_once ? sum_of_packs(own.of_threads.values[k], part, team.size)
                                       : sum_of_packs(own.of_threads.losses, part, team.size);
    }
    team.barrier();
    for (int k = team.rank; k < sums; k += team.size) {
      const int c = (begin + k) / Own::features, f = (begin + k) % Own::features;
      const bool is_loss = k == at_once;
      if (!is_loss && (c >= descent.classes || f > descent.features)) continue;
      double parts[parts_of_team];
      blocks::unrolled<parts_of_team>([&](int part) { parts[part] = own.parts[part][k]; });
      const double sum = blocks::sum_in_pairs(parts);
      double& to =
          own.sums[is_loss ? persistent_sums(descent.classes, descent.features) - 1 : c * (descent.features + 1) + f];
      to = is_first ? sum : to + sum;
    }
  });
  team.barrier();
}

/// Sets `own.theta` by `value(theta, class, feature)`, and the weights: theta times the scale, for logits to base 2.
/// Those of a padding class make its logit `no_logit`.
template <int quads, int most, class Barrier, class Value>
LEAGUE_FUNCTION void set_weights(const blocks::Group<Barrier>& team, const Descent& descent,
                                 PersistentScratch<quads, most>& own, const Value& value) {
  using Own = PersistentScratch<quads, most>;
  for (int i = team.rank; i < Own::values; i += team.size) {
    const int c = i / Own::features, f = i % Own::features;
    double weight = f == descent.features ? static_cast<double>(no_logit) : 0;
    if (c < descent.classes) {
      weight = 0;
      if (f <= descent.features) {
        double& parameter = own.theta[f * descent.classes + c];
        parameter = value(parameter, c, f);
        weight = parameter * std::numbers::log2e;
      }
    }
    own.weights[c][f / 4].values[f % 4] = static_cast<float>(weight * descent.scale);
  }
}

/// All steps by team `rank` of `teams`. @pre all threads of all teams call; all teams run at once
template <class Words, int quads, int most, class T, class Barrier, class Atomics>
LEAGUE_FUNCTION void take_all_steps(const blocks::Group<Barrier>& team, std::int64_t rank, std::int64_t teams,
                                    const PersistentWork<T>& work, const Atomics& atomics,
                                    PersistentScratch<quads, most>& own) {
  using Row = StoredRow<T, quads>;
  Descent descent = work.descent;
  descent.theta = own.theta;
  const int sums = persistent_sums(descent.classes, descent.features);
  const std::int64_t start = rank * team.size, stride = teams * team.size;
  pad(team, own);
  set_weights(team, descent, own, [](double, int, int) { return 0.0; });
  team.barrier();

  std::int64_t batch = 0;
  Rows rows = descent.own_rows_of(batch);
  std::int64_t index = rows.first + start + team.rank;
  Row next;
  if (index < rows.last) next = Row::load(work, index);
  for (std::int64_t step = 0; step < work.steps; ++step) {
    const double share = 1 / static_cast<double>(rows.last - rows.first);
    double loss = rank == 0 ? descent.penalty(step, team.rank, team.size) * std::numbers::log2e : 0;  // to base 2
    const std::int64_t begin = rows.first + start, end = rows.last;
    for (std::int64_t from = begin; from == begin || from < end; from += rows_of_thread * stride) {
      RowSums<quads> of_thread = {};
      float product = 1;
      bool more = index < end;
      for (int count = 0; more && count < rows_of_thread; ++count) {
        const Row row = next;
        const Quad* weights = own.weights[0] + blocks::recomputed(0, index);
        index += stride;
        more = index < end;
        if (more) next = Row::load(work, index);
        loss += add_row<Words>(row, weights, product, of_thread);
        if (count % product_of_rows == product_of_rows - 1) {
          loss += static_cast<double>(log2f(product));
          product = 1;
        }
      }
      loss += static_cast<double>(log2f(product));
      if (from + rows_of_thread * stride >= end) {  // the first row of the next step is on its way meanwhile
        batch = batch + 1 < descent.batches ? batch + 1 : 0;
        rows = descent.own_rows_of(batch);
        index = rows.first + start + team.rank;
        if (index < rows.last) next = Row::load(work, index);
      }
      add_threads(team, of_thread, loss * std::numbers::ln2, from == begin, descent, own);
      loss = 0;
    }
    blocks::league_all_reduce(team, rank, teams, sums, own.sums, work.board, step, atomics, own.received);
    set_weights(team, descent, own, [&](double parameter, int c, int f) {
      return descent.after_step(parameter, f, own.sums[c * (descent.features + 1) + f] * share);
    });
    if (rank == 0 && team.rank == team.size - 1) descent.loss[step] = own.sums[sums - 1] * share;
    team.barrier();
  }
  if (rank != 0) return;
  for (int i = team.rank; i < sums - 1; i += team.size) work.descent.theta[i] = own.theta[i];
  if (team.rank == 0) *descent.taken = work.steps;
}

}  // namespace league::softmax_regression
