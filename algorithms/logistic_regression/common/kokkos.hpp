// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/numbers_kokkos.hpp"
#include "algorithms/blocks/once_per_team_kokkos.hpp"
#include "algorithms/blocks/packs_kokkos.hpp"
#include "algorithms/blocks/share_kokkos.hpp"
#include "algorithms/blocks/team_sums_kokkos.hpp"
#include "algorithms/blocks/vectorised.hpp"
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
  Vector<const T> values;  ///< of the columns
  std::int64_t count, packs;
  int features;

  /// Bytes as T. (GCC 12 vectorises no conversion of bytes to floats, but both halves of it.)
  KOKKOS_FORCEINLINE_FUNCTION static void to_values(const blocks::PackOf<std::uint8_t, width>& bytes,
                                                    T (&of_pack)[width]) {
    int widened[width];
    LEAGUE_VECTORISED
    for (int k = 0; k < width; ++k) widened[k] = bytes.values[k];
    LEAGUE_VECTORISED
    for (int k = 0; k < width; ++k) of_pack[k] = static_cast<T>(widened[k]);
  }
  /// The labels of a pack.
  KOKKOS_FORCEINLINE_FUNCTION void labels_of(std::int64_t pack, T (&of_pack)[width]) const {
    const blocks::LoadedPack<std::uint8_t, width> bytes = labels(pack);
    to_values(bytes, of_pack);
  }
};

/// Sums over the rows: the loss, the gradient (intercept first), and for Newton's method the lower triangle of the
/// Hessian, row by row.
KOKKOS_FORCEINLINE_FUNCTION constexpr int gradient_at(int j) { return 1 + j; }
KOKKOS_FORCEINLINE_FUNCTION constexpr int hessian_at(int features, int i, int j) {
  return gradient_at(features + 1) + i * (i + 1) / 2 + j;
}
KOKKOS_FORCEINLINE_FUNCTION constexpr int sums_of(int features, bool newton) {
  return newton ? hessian_at(features, features + 1, 0) : gradient_at(features + 1);
}

/// The state of a solve, replicated on every shard.
struct State {
  Vector<double> theta, loss, sums;
  Vector<std::int64_t> taken, control;  ///< [1]; the steps so far, whether the solve has stopped, halvings of this step
  Vector<double> accepted;              ///< Newton's method: the last accepted theta, the step from it, its loss

  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION bool stopped() const { return control(1) != 0; }
};

/// `count` runs of elements, the first of each `step` from that before.
struct Runs {
  std::int64_t first, step, count;
};
/// The runs of `length` of a stretch, in the order of the next step: every other step goes from the last to the first,
/// and finds in the caches what the step before has read last.
template <class Stretch>
KOKKOS_FORCEINLINE_FUNCTION Runs in_turn(const State& state, const Stretch& mine, int length) {
  if (mine.first >= mine.end) return {mine.first, 0, 0};
  const std::int64_t run = length * mine.stride, last = (mine.end - 1 - mine.first) / run;
  const bool back = state.control(0) % 2 != 0;
  return {back ? mine.first + last * run : mine.first, back ? -run : run, last + 1};
}

struct Rule {
  int features;
  double share, learning_rate, l2, tolerance;  ///< `share`: the weight of a row in the mean
};

constexpr Numbers of_step = blocks::by_kind({.team = 1, .vector = 32}, {.team = 1, .vector = 1});

inline Team one_team(const Exec& exec) { return Team(exec, 1, of_step.team, of_step.vector); }

// Kernels of a header that several files include are functors: nvcc names what it makes of a lambda in each file anew.

/// Sets the state before the first step.
struct Begin {
  State state;
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, static_cast<int>(state.theta.extent(0))),
                         [&](int j) { state.theta(j) = 0; });
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, 3), [&](int j) { state.control(j) = 0; });
  }
};

/// Component `j` of the mean gradient, with the penalty.
KOKKOS_FORCEINLINE_FUNCTION double gradient_of(const State& state, const Rule& rule, int j) {
  return state.sums(gradient_at(j)) * rule.share + (j > 0 ? rule.l2 * state.theta(j) : 0.0);
}

/// What all lanes of a team read before a step changes the state.
struct Found {
  std::int64_t step;
  bool stopped;  ///< before this step
  double loss;
  bool small;  ///< the gradient is below the tolerance
};
KOKKOS_INLINE_FUNCTION Found look(const Member& team, const State& state, const Rule& rule) {
  const std::int64_t step = state.control(0);
  const bool stopped = state.stopped();
  double squares = 0;
  if (rule.l2 > 0)
    Kokkos::parallel_reduce(
        Kokkos::TeamVectorRange(team, 1, rule.features + 1),
        [&](int j, double& sum) { sum += state.theta(j) * state.theta(j); }, squares);
  int large = 1;
  if (rule.tolerance > 0)
    Kokkos::parallel_reduce(
        Kokkos::TeamVectorRange(team, rule.features + 1),
        [&](int j, int& sum) {
          const double component = gradient_of(state, rule, j);
          sum += component < rule.tolerance && -component < rule.tolerance ? 0 : 1;
        },
        large);
  const double loss = stopped ? state.loss(step - 1) : state.sums(0) * rule.share + rule.l2 / 2 * squares;
  return {step, stopped, loss, large == 0};
}
/// Records what was read. @pre a barrier since `look`
KOKKOS_INLINE_FUNCTION void note(const Member& team, const State& state, const Found& found, bool stop) {
  blocks::once_per_team(team, [&] {
    state.loss(found.step) = found.loss;
    state.control(0) = found.step + 1;
    if (found.stopped) return;
    state.taken(0) = found.step + 1;
    if (stop) state.control(1) = 1;
  });
}

/// A step of gradient descent. The step that finds a gradient below the tolerance is the last; later ones repeat its
/// loss.
struct Descend {
  State state;
  Rule rule;
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const Found found = look(team, state, rule);
    team.team_barrier();
    note(team, state, found, found.small);
    if (found.stopped) return;
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, rule.features + 1),
                         [&](int j) { state.theta(j) -= rule.learning_rate * gradient_of(state, rule, j); });
  }
};

/// A team per sum adds the `count` partials of it, [sums x count].
struct AddPartials {
  State state;
  Vector<double> partials;
  std::int64_t count;
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    if (state.stopped()) return;
    const int at = team.league_rank();
    double total = 0;
    Kokkos::parallel_reduce(
        Kokkos::TeamVectorRange(team, count), [&](std::int64_t i, double& sum) { sum += partials(at * count + i); },
        total);
    blocks::once_per_team(team, [&] { state.sums(at) = total; });
  }
};
inline void add_partials(Queue& queue, const Exec& exec, int lanes, std::int64_t count, const State& state,
                         const Vector<double>& partials) {
  kokkos::submit(queue, "logistic_regression/add_partials",
                 Team(exec, static_cast<int>(state.sums.extent(0)), lanes, 1), AddPartials{state, partials, count});
}

/// A solve on the rows of a shard, by gradient descent unless `update` is another step; a method adds the sums of its
/// rows in `accumulate`.
template <class T, int width>
class Solve : public IterativeShard {
 public:
  Solve(const LogisticRegression& problem, const Context& context, const Shard& shard)
      : IterativeShard(context, shard),
        exec_(kokkos::instance(runtime(), queue())),
        rule_{problem.features, 1 / static_cast<double>(problem.extent()), problem.learning_rate, problem.l2,
              problem.tolerance},
        packs_(ceil_div<std::int64_t>(rows().size(), width)) {
    declare_zeroed(columns_, "logistic_regression/columns", rule_.features * packs_ * width);
    declare_zeroed(labels_, "logistic_regression/labels", packs_ * width);
    for (int d = 0; d < rule_.features; ++d) input(columns_, problem.column<T>(d, rows()), d * packs_ * width);
    input(labels_, problem.labels_of(rows()));
    declare(theta_, "logistic_regression/theta", rule_.features + 1);
    declare(loss_, "logistic_regression/loss", problem.steps);
    declare(sums_, "logistic_regression/sums", sums_of(rule_.features, problem.newton));
    declare(taken_, "logistic_regression/taken", 1);
    declare(control_, "logistic_regression/control", 3);
    declare(accepted_, "logistic_regression/accepted", problem.newton ? 2 * rule_.features + 3 : 0);
    whole_output(theta_, LogisticRegression::theta);
    whole_output(loss_, LogisticRegression::loss);
    whole_output(taken_, LogisticRegression::steps_taken);
  }
  void begin() const override { kokkos::submit(queue(), "logistic_regression/begin", one_team(exec_), Begin{state()}); }
  [[nodiscard]] Buffer sums() const override { return kokkos::buffer_of(sums_); }
  void update() const override {
    kokkos::submit(queue(), "logistic_regression/descend", one_team(exec_), Descend{state(), rule_});
  }

 protected:
  [[nodiscard]] int features() const { return rule_.features; }
  [[nodiscard]] State state() const {
    return {theta_.view(), loss_.view(), sums_.view(), taken_.view(), control_.view(), accepted_.view()};
  }
  /// The launch of a kernel whose lanes take packs of rows and whose teams add `n` sums: as many teams as the device
  /// holds at once, no larger than their scratch memory allows.
  template <int n>
  [[nodiscard]] Launch planned(Launch launch, const Numbers& numbers, int max_lanes) const {
    using Sums = blocks::TeamSums<n>;
    LaunchLimits most = kokkos::limits(queue());
    most.team_times_vector = std::min(most.team_times_vector, max_lanes);
    const auto scratch = kokkos::scratch_limit(Sums::level);
    int team = std::min(numbers.team, most.team_times_vector);
    while (team > 1 && Sums::bytes(team) > scratch) team /= 2;
    launch = resolve(launch, {0, team, 1}, most);
    const int lanes = launch.team * launch.vector;
    league::require_scratch(Sums::bytes(lanes), scratch, "the sums of this team");
    launch.tile = numbers.width * lanes;
    if (launch.league == 0) launch.league = teams(launch, blocks::lanes_at_once(exec_, numbers, max_lanes));
    return launch;
  }
  /// As many teams as there are tiles, no more than `held` lanes, and one at least.
  [[nodiscard]] int teams(const Launch& launch, int held) const {
    return static_cast<int>(std::clamp<std::int64_t>(ceil_div<std::int64_t>(rows().size(), launch.tile), 1,
                                                     std::max(1, held / (launch.team * launch.vector))));
  }
  /// The policy of such a kernel.
  template <int n, int max_lanes, int teams>
  [[nodiscard]] auto policy(const Launch& launch) const {
    using Bounds = Kokkos::LaunchBounds<max_lanes, kokkos::launch_bound(teams)>;
    using Sums = blocks::TeamSums<n>;
    Kokkos::TeamPolicy<Exec, Kokkos::IndexType<std::int64_t>, Bounds> policy(exec_, launch.league, launch.team,
                                                                             launch.vector);
    policy.set_scratch_size(Sums::level, Kokkos::PerTeam(Sums::bytes(launch.team * launch.vector)));
    return kokkos::light(policy);
  }
  [[nodiscard]] Rows<T, width> all_rows() const {
    return {blocks::packs<width>(Vector<const T>(columns_.view())),
            blocks::packs<width>(Vector<const std::uint8_t>(labels_.view())),
            columns_.view(),
            rows().size(),
            packs_,
            rule_.features};
  }
  const Exec& exec_;
  const Rule rule_;

 private:
  std::int64_t packs_;
  kokkos::Array<T> columns_;
  kokkos::Array<std::uint8_t> labels_;
  kokkos::Array<double> theta_, loss_, sums_, accepted_;
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
