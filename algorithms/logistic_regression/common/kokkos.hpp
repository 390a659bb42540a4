// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/numbers_kokkos.hpp"
#include "algorithms/blocks/once_per_team_kokkos.hpp"
#include "algorithms/blocks/packs_kokkos.hpp"
#include "algorithms/blocks/share_kokkos.hpp"
#include "algorithms/contract/with_type.hpp"
#include "algorithms/drivers/iterative.hpp"
#include "algorithms/logistic_regression/logistic_regression.hpp"
#include "backends/kokkos/buffer.hpp"
#include "backends/kokkos/submit.hpp"

/// What the solves written once share: the rows, the state and the step.
namespace league::logistic::kokkos_model {

using blocks::Numbers, kokkos::Exec, kokkos::Member, kokkos::Team, kokkos::Vector;

/// The rows of a shard in packs of `width`: [features][packs], and their labels; the last pack is filled up with zeros.
template <class T, int width>
struct Rows {
  blocks::Packs<const T, width> columns;
  blocks::Packs<const std::uint8_t, width> labels;
  std::int64_t count, packs;
  int features;
};

/// The state of a solve, replicated on every shard. `sums`: the loss, then the gradient, intercept first.
struct State {
  Vector<double> theta, loss, sums;
  Vector<std::int64_t> taken, control;  ///< [1]; the steps so far, and whether the solve has stopped

  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION bool stopped() const { return control(1) != 0; }
};

struct Rule {
  int features;
  double share, learning_rate, l2, tolerance;  ///< `share`: the weight of a row in the mean
};

constexpr Numbers of_step = blocks::by_kind({.team = 32, .vector = 32}, {.team = 1, .vector = 1});

inline Team one_team(const Exec& exec) { return Team(exec, 1, of_step.team, of_step.vector); }

// Sets the state before the first step.
inline void start(Queue& queue, const Exec& exec, const State& state) {
  kokkos::submit(
      queue, "logistic_regression/begin", one_team(exec), KOKKOS_LAMBDA(const Member& team) {
        Kokkos::parallel_for(Kokkos::TeamVectorRange(team, static_cast<int>(state.theta.extent(0))),
                             [&](int j) { state.theta(j) = 0; });
        Kokkos::parallel_for(Kokkos::TeamVectorRange(team, 2), [&](int j) { state.control(j) = 0; });
      });
}

// A step of gradient descent. The step that finds a gradient below the tolerance is the last; later ones repeat its
// loss.
inline void descend(Queue& queue, const Exec& exec, const State& state, const Rule& rule) {
  kokkos::submit(
      queue, "logistic_regression/descend", one_team(exec), KOKKOS_LAMBDA(const Member& team) {
        const std::int64_t step = state.control(0);
        const bool stopped = state.stopped();
        const auto component = [&](int j) {
          return state.sums(1 + j) * rule.share + (j > 0 ? rule.l2 * state.theta(j) : 0.0);
        };
        double squares = 0;
        int large = 0;
        const int coefficients = rule.features + 1;
        Kokkos::parallel_reduce(
            Kokkos::TeamVectorRange(team, 1, coefficients),
            [&](int j, double& sum) { sum += state.theta(j) * state.theta(j); }, squares);
        Kokkos::parallel_reduce(
            Kokkos::TeamVectorRange(team, coefficients),
            [&](int j, int& sum) {
              const double value = component(j);
              sum += value < rule.tolerance && -value < rule.tolerance ? 0 : 1;
            },
            large);
        team.team_barrier();  // all have read the state
        blocks::once_per_team(team, [&] {
          state.loss(step) = stopped ? state.loss(step - 1) : state.sums(0) * rule.share + rule.l2 / 2 * squares;
          state.control(0) = step + 1;
          if (stopped) return;
          state.taken(0) = step + 1;
          if (large == 0) state.control(1) = 1;
        });
        if (stopped) return;
        Kokkos::parallel_for(Kokkos::TeamVectorRange(team, coefficients),
                             [&](int j) { state.theta(j) -= rule.learning_rate * component(j); });
      });
}

/// A solve by gradient descent on the rows of a shard; a method adds the sums of its rows in `accumulate`.
template <class T, int width>
class Solve : public IterativeShard {
 public:
  Solve(const LogisticRegression& problem, const Context& context, const Shard& shard)
      : IterativeShard(context, shard),
        exec_(kokkos::instance(runtime(), queue())),
        packs_(ceil_div<std::int64_t>(rows().size(), width)),
        rule_{problem.features, 1 / static_cast<double>(problem.extent()), problem.learning_rate, problem.l2,
              problem.tolerance} {
    declare_zeroed(columns_, "logistic_regression/columns", rule_.features * packs_ * width);
    declare_zeroed(labels_, "logistic_regression/labels", packs_ * width);
    for (int d = 0; d < rule_.features; ++d) input(columns_, problem.column<T>(d, rows()), d * packs_ * width);
    input(labels_, problem.labels_of(rows()));
    declare(theta_, "logistic_regression/theta", rule_.features + 1);
    declare(loss_, "logistic_regression/loss", problem.steps);
    declare(sums_, "logistic_regression/sums", rule_.features + 2);
    declare(taken_, "logistic_regression/taken", 1);
    declare(control_, "logistic_regression/control", 2);
    whole_output(theta_, LogisticRegression::theta);
    whole_output(loss_, LogisticRegression::loss);
    whole_output(taken_, LogisticRegression::steps_taken);
  }
  void begin() const override { start(queue(), exec_, state()); }
  [[nodiscard]] Buffer sums() const override { return kokkos::buffer_of(sums_); }
  void update() const override { descend(queue(), exec_, state(), rule_); }

 protected:
  [[nodiscard]] int features() const { return rule_.features; }
  [[nodiscard]] State state() const {
    return {theta_.view(), loss_.view(), sums_.view(), taken_.view(), control_.view()};
  }
  [[nodiscard]] Rows<T, width> all_rows() const {
    return {blocks::packs<width>(Vector<const T>(columns_.view())),
            blocks::packs<width>(Vector<const std::uint8_t>(labels_.view())), rows().size(), packs_, rule_.features};
  }
  const Exec& exec_;

 private:
  std::int64_t packs_;
  Rule rule_;
  kokkos::Array<T> columns_;
  kokkos::Array<std::uint8_t> labels_;
  kokkos::Array<double> theta_, loss_, sums_;
  kokkos::Array<std::int64_t> taken_, control_;
};

/// The class for the type of the data.
template <template <class> class P>
std::unique_ptr<IterativeShard> by_type(const LogisticRegression& problem, const Context& context, const Shard& shard) {
  return with_type<float, double>(problem.dtype, [&]<class T>() -> std::unique_ptr<IterativeShard> {
    return std::make_unique<P<T>>(problem, context, shard);
  });
}

}  // namespace league::logistic::kokkos_model
