// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/unrolled.hpp"
#include "algorithms/logistic_regression/common/kokkos.hpp"
#include "algorithms/logistic_regression/common/kokkos_sums.hpp"
#include "algorithms/logistic_regression/common/row.hpp"

/// One pass over the rows, in which each lane has all sums.
namespace league::logistic::kokkos_model {

/// The sums of a lane's rows, of `known` features or fewer, for a gradient step or for a step of Newton's method.
/// Features that are not there repeat the last one: with returns between columns GCC 12 vectorises none. A lane takes
/// `depth` packs of `width` rows at a time, column after column, and keeps `side` partial sums of a value next to each
/// other.
template <int known, bool newton, class T, int width, int depth, int side>
class RowSums {
 public:
  static constexpr int n = sums_of(known, newton);

  KOKKOS_FORCEINLINE_FUNCTION explicit RowSums(const Rows<T, width>& rows) : rows_(rows) {}
  /// Adds the share of a worker.
  KOKKOS_FORCEINLINE_FUNCTION void add(const State& state, std::int64_t worker, std::int64_t workers) {
    T weights[known + 1];
    for (int j = 0; j <= known; ++j) weights[j] = j <= rows_.features ? static_cast<T>(state.theta(j)) : T{0};
    const auto mine = blocks::share(worker, workers, rows_.packs);
    stride_ = mine.stride;
    for (first_ = mine.first; first_ < mine.end; first_ += depth * stride_) {
      const std::int64_t left = (mine.end - first_ + stride_ - 1) / stride_;
      steps_ = left < depth ? static_cast<int>(left) : depth;
      for (int step = 0; step < depth; ++step)
        for (int k = 0; k < width; ++k) residual_[step][k] = weights[0];
      add_logits<0>(weights);
      set_terms();
      add_columns<0>();
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION void leave(double (&sums)[n]) const {
    for (int i = 0; i < n; ++i) sums[i] = narrowed(totals_[i]);
  }
  /// Where sum `at` lies among those of fewer features; -1: it is of a feature that is not there.
  KOKKOS_FORCEINLINE_FUNCTION static int place(int features, int at) {
    const int gradient = gradient_at(known + 1), here = gradient_at(features + 1);
    if (at < gradient) return at < here ? at : -1;
    return at - gradient + here < sums_of(features, newton) ? at - gradient + here : -1;
  }

 private:
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION blocks::LoadedPack<T, width> column(int d, int step) const {
    return rows_.columns((d < rows_.features ? d : rows_.features - 1) * rows_.packs + first_ + step * stride_);
  }
  // Templates over columns, not loops: all is unrolled, so that sums stay in registers.
  template <int d>
  KOKKOS_FORCEINLINE_FUNCTION void add_logits(const T (&weights)[known + 1]) {
    if constexpr (d < known) {
      for (int step = 0; step < depth; ++step) {
        if (step >= steps_) break;
        const blocks::LoadedPack<T, width> x = column(d, step);
        LEAGUE_VECTORISED
        for (int k = 0; k < width; ++k) residual_[step][k] += weights[d + 1] * x.values[k];
      }
      add_logits<d + 1>(weights);
    }
  }
  /// Logits become residuals and weights, 0 where there is no row; adds them and the losses.
  KOKKOS_FORCEINLINE_FUNCTION void set_terms() {
    T of_loss[side] = {}, of_residual[side] = {}, of_weight[side] = {};
    for (int step = 0; step < depth; ++step) {
      if (step >= steps_) break;
      const std::int64_t pack = first_ + step * stride_, rest = rows_.count - pack * width;
      const int there = rest < width ? static_cast<int>(rest) : width;
      T loss[width], labels[width];
      rows_.labels_of(pack, labels);
      LEAGUE_VECTORISED
      for (int k = 0; k < width; ++k) {
        const RowTerms<T> terms = row_terms(residual_[step][k], labels[k]);
        loss[k] = terms.loss;
        residual_[step][k] = terms.residual;
        weight_[step][k] = terms.weight;
      }
      LEAGUE_VECTORISED
      for (int k = 0; k < width; ++k) {
        loss[k] = k < there ? loss[k] : T{0};
        residual_[step][k] = k < there ? residual_[step][k] : T{0};
        weight_[step][k] = k < there ? weight_[step][k] : T{0};
      }
      for (int run = 0; run < width; run += side) {
        LEAGUE_VECTORISED
        for (int s = 0; s < side; ++s) {
          of_loss[s] += loss[run + s];
          of_residual[s] += residual_[step][run + s];
          of_weight[s] += weight_[step][run + s];
        }
      }
    }
    widen(of_loss, totals_[0]);
    widen(of_residual, totals_[gradient_at(0)]);
    if constexpr (newton) widen(of_weight, totals_[hessian_at(known, 0, 0)]);
  }
  /// Adds the products of column `i` and of those behind it.
  template <int i>
  KOKKOS_FORCEINLINE_FUNCTION void add_columns() {
    if constexpr (i < known) {
      constexpr int products = newton ? i + 1 : 0;
      T of_residual[side] = {}, of_weight[side] = {}, of_products[products + 1][side] = {};
      for (int step = 0; step < depth; ++step) {
        if (step >= steps_) break;
        const blocks::LoadedPack<T, width> x = column(i, step);
        T weighted[width];
        LEAGUE_VECTORISED
        for (int k = 0; k < width; ++k) weighted[k] = weight_[step][k] * x.values[k];
        for (int run = 0; run < width; run += side) {
          LEAGUE_VECTORISED
          for (int s = 0; s < side; ++s) {
            of_residual[s] += residual_[step][run + s] * x.values[run + s];
            of_weight[s] += weighted[run + s];
          }
        }
        add_products<0, products>(weighted, step, of_products);
      }
      widen(of_residual, totals_[gradient_at(i + 1)]);
      if constexpr (newton) widen(of_weight, totals_[hessian_at(known, i + 1, 0)]);
      for (int j = 0; j < products; ++j) widen(of_products[j], totals_[hessian_at(known, i + 1, j + 1)]);
      add_columns<i + 1>();
    }
  }
  template <int j, int products>
  KOKKOS_FORCEINLINE_FUNCTION void add_products(const T (&weighted)[width], int step,
                                                T (&sums)[products + 1][side]) const {
    if constexpr (j < products) {
      const blocks::LoadedPack<T, width> x = column(j, step);
      for (int run = 0; run < width; run += side) {
        LEAGUE_VECTORISED
        for (int s = 0; s < side; ++s) sums[j][s] += weighted[run + s] * x.values[run + s];
      }
      add_products<j + 1, products>(weighted, step, sums);
    }
  }

  const Rows<T, width>& rows_;
  std::int64_t first_ = 0, stride_ = 1;
  int steps_ = 0;  ///< packs that are there, from `first_` on
  T residual_[depth][width], weight_[depth][width];
  double totals_[n][wide<T, side>] = {};
};

// A team adds the sums of its lanes once, at its end; the last team to arrive adds those of all.
template <class Sums, class Policy, class T, int width>
void add_rows(Queue& queue, const char* name, const Policy& policy, int lanes, const Rows<T, width>& rows,
              const State& state, const Vector<double>& partials, const Vector<unsigned>& ticket) {
  kokkos::submit(
      queue, name, policy, KOKKOS_LAMBDA(const Member& team) {
        if (state.stopped()) return;
        blocks::TeamSums<Sums::n>(team, lanes)
            .over_league(
                partials, ticket,
                [&](int lane, double (&mine)[Sums::n]) {
                  Sums sums(rows);
                  sums.add(state, std::int64_t{team.league_rank()} * lanes + lane,
                           std::int64_t{team.league_size()} * lanes);
                  sums.leave(mine);
                },
                [&](int i, double sum) {
                  const int place = Sums::place(rows.features, i);
                  if (place >= 0) state.sums(place) = sum;
                });
      });
}

}  // namespace league::logistic::kokkos_model
