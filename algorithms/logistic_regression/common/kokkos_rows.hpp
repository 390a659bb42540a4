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
/// other. Of the first `kept` columns it keeps a pack from the logits to the sums, and loads the next one into the same
/// registers as soon as the sums have used it.
template <int known, bool newton, class T, int width, int depth, int side, int kept>
class RowSums {
  static_assert(kept == 0 || depth == 1);
  using Pack = blocks::PackOf<T, width>;

 public:
  static constexpr int n = sums_of(known, newton);

  KOKKOS_FORCEINLINE_FUNCTION explicit RowSums(const Rows<T, width>& rows) : rows_(rows) {}
  /// Adds the share of a worker.
  KOKKOS_FORCEINLINE_FUNCTION void add(const State& state, std::int64_t worker, std::int64_t workers) {
    T weights[known + 1];
    for (int j = 0; j <= known; ++j) weights[j] = j <= rows_.features ? static_cast<T>(state.theta(j)) : T{0};
    const auto mine = blocks::share(worker, workers, rows_.packs);
    stride_ = mine.stride;
    const Runs runs = in_turn(state, mine, depth);
    first_ = runs.first;
    if (held > 0 && runs.count > 0) keep<0>(first_);
    for (std::int64_t run = 0; run < runs.count; ++run, first_ += runs.step) {
      const std::int64_t left = (mine.end - first_ + stride_ - 1) / stride_;
      steps_ = depth == 1 || left >= depth ? depth : static_cast<int>(left);
      next_ = run + 1 < runs.count ? first_ + runs.step : first_;
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
  static constexpr int held = kept < known ? kept : known;

  template <int d>
  KOKKOS_FORCEINLINE_FUNCTION void keep(std::int64_t pack) {
    if constexpr (d < held) {
      kept_[d] = rows_.columns(start<d>() + pack);
      keep<d + 1>(pack);
    } else {
      labels_ = rows_.labels(pack);
    }
  }
  /// Of column `d`, in packs.
  template <int d>
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION std::int64_t start() const {
    return (d < rows_.features ? d : rows_.features - 1) * rows_.packs;
  }
  template <int d>
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION blocks::LoadedPack<T, width> column(int step) const {
    if constexpr (d < held)
      return kept_[d];
    else
      return rows_.columns(start<d>() + first_ + step * stride_);
  }
  // Templates over columns, not loops: all is unrolled, so that sums stay in registers.
  template <int d>
  KOKKOS_FORCEINLINE_FUNCTION void add_logits(const T (&weights)[known + 1]) {
    if constexpr (d < known) {
      for (int step = 0; step < depth; ++step) {
        if (step >= steps_) break;
        const blocks::LoadedPack<T, width> x = column<d>(step);
        LEAGUE_VECTORISED
        for (int k = 0; k < width; ++k) residual_[step][k] += weights[d + 1] * x.values[k];
      }
      add_logits<d + 1>(weights);
    }
  }
  /// Logits become residuals and weights, 0 where there is no row; adds them and the losses, by a logarithm for the
  /// rows of a partial sum (`SharedLoss`).
  KOKKOS_FORCEINLINE_FUNCTION void set_terms() {
    T of_residual[side] = {}, of_weight[side] = {}, margins[side] = {}, product[side];
    for (int s = 0; s < side; ++s) product[s] = 1;
    for (int step = 0; step < depth; ++step) {
      if (step >= steps_) break;
      const std::int64_t pack = first_ + step * stride_, rest = rows_.count - pack * width;
      const int there = rest < width ? static_cast<int>(rest) : width;
      T margin[width], factor[width], labels[width];
      if constexpr (held > 0) {
        rows_.to_values(labels_, labels);
        labels_ = rows_.labels(next_);
      } else
        rows_.labels_of(pack, labels);
      LEAGUE_VECTORISED
      for (int k = 0; k < width; ++k) {
        const T z = residual_[step][k];
        const SharedTerms<T> terms = shared_terms(z, labels[k], exp_of_negative(z < 0 ? z : -z));
        margin[k] = terms.margin;
        factor[k] = terms.factor;
        residual_[step][k] = terms.residual;
        weight_[step][k] = terms.weight;
      }
      LEAGUE_VECTORISED
      for (int k = 0; k < width; ++k) {
        margin[k] = k < there ? margin[k] : T{0};
        factor[k] = k < there ? factor[k] : T{1};
        residual_[step][k] = k < there ? residual_[step][k] : T{0};
        weight_[step][k] = k < there ? weight_[step][k] : T{0};
      }
      for (int run = 0; run < width; run += side) {
        LEAGUE_VECTORISED
        for (int s = 0; s < side; ++s) {
          margins[s] += margin[run + s];
          product[s] *= factor[run + s];
          of_residual[s] += residual_[step][run + s];
          of_weight[s] += weight_[step][run + s];
        }
      }
    }
    LEAGUE_VECTORISED
    for (int s = 0; s < side; ++s) margins[s] += log_of_product(product[s]);
    widen(margins, totals_[0]);
    widen(of_residual, totals_[gradient_at(0)]);
    if constexpr (newton) widen(of_weight, totals_[hessian_at(known, 0, 0)]);
  }
  /// Adds the sums of column `i` and its products with those behind it; then it is not needed any more.
  template <int i>
  KOKKOS_FORCEINLINE_FUNCTION void add_columns() {
    if constexpr (i < known) {
      constexpr int products = newton ? known - i : 0;
      T of_residual[side] = {}, of_weight[side] = {}, of_products[products + 1][side] = {};
      for (int step = 0; step < depth; ++step) {
        if (step >= steps_) break;
        const blocks::LoadedPack<T, width> x = column<i>(step);
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
        add_products<i, 0, products>(weighted, step, of_products);
      }
      widen(of_residual, totals_[gradient_at(i + 1)]);
      if constexpr (newton) widen(of_weight, totals_[hessian_at(known, i + 1, 0)]);
      for (int j = 0; j < products; ++j) widen(of_products[j], totals_[hessian_at(known, i + j + 1, i + 1)]);
      if constexpr (i < held) kept_[i] = rows_.columns(start<i>() + next_);
      add_columns<i + 1>();
    }
  }
  template <int i, int j, int products>
  KOKKOS_FORCEINLINE_FUNCTION void add_products(const T (&weighted)[width], int step,
                                                T (&sums)[products + 1][side]) const {
    if constexpr (j < products) {
      const blocks::LoadedPack<T, width> x = column<i + j>(step);
      for (int run = 0; run < width; run += side) {
        LEAGUE_VECTORISED
        for (int s = 0; s < side; ++s) sums[j][s] += weighted[run + s] * x.values[run + s];
      }
      add_products<i, j + 1, products>(weighted, step, sums);
    }
  }

  const Rows<T, width>& rows_;
  std::int64_t first_ = 0, next_ = 0, stride_ = 1;
  int steps_ = 0;  ///< packs that are there, from `first_` on
  Pack kept_[held > 0 ? held : 1];
  blocks::PackOf<std::uint8_t, width> labels_;
  T residual_[depth][width], weight_[depth][width];
  double totals_[n][wide<T, side>] = {};
};

// A team adds the sums of its lanes once, at its end; the last team to arrive adds those of all, and calls `step`, as
// does the first one of a solve that has stopped.
template <class Sums, class Policy, class T, int width, class Step>
void add_rows(Queue& queue, const char* name, const Policy& policy, int lanes, const Rows<T, width>& rows,
              const State& state, const Vector<double>& partials, const Vector<unsigned>& ticket, const Step& step) {
  kokkos::submit(
      queue, name, policy, KOKKOS_LAMBDA(const Member& team) {
        const bool takes_step = state.stopped()
                                    ? team.league_rank() == 0
                                    : blocks::TeamSums<Sums::n>(team, lanes)
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
        if (takes_step) step(team);
      });
}

}  // namespace league::logistic::kokkos_model
