// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/numbers_kokkos.hpp"
#include "algorithms/blocks/packs_kokkos.hpp"
#include "algorithms/blocks/share_kokkos.hpp"
#include "algorithms/blocks/unrolled.hpp"
#include "algorithms/blocks/vectorised.hpp"
#include "algorithms/softmax_regression/common/memory.hpp"
#include "backends/kokkos/buffer.hpp"
#include "backends/kokkos/submit.hpp"

/// What the methods written once share: the state of a descent, and its step.
namespace league::softmax_regression::kokkos_model {

using blocks::Numbers, kokkos::Exec, kokkos::Member, kokkos::Team, kokkos::Vector;

/// The state of a descent on one device. Weights are theta times `scale`, rounded to float and zero-padded, `run`
/// neighbouring features of a class together: [turns][runs][classes_together][run].
struct State {
  Rule rule;
  int run;
  Vector<double> theta, loss, sums;  ///< [features + 1 x classes]; [steps]; [columns]
  Vector<float> weights;
  Vector<std::int64_t> taken, current;  ///< steps: completed ones, read by `accumulate`; the current one, by `update`

  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION int place_of_weight(int c, int f) const {
    const int runs = (rule.pitch + run - 1) / run;
    return ((c / classes_together * runs + f / run) * classes_together + c % classes_together) * run + f % run;
  }
  /// The squares of the parameters of `theta` from `first` on, every `stride`-th.
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION double squares(int first, int stride) const {
    double sum = 0;
    for (int i = first; i < rule.features * rule.classes; i += stride) sum += theta(i) * theta(i);
    return sum;
  }
  /// What the penalty adds to the loss, which the first shard counts: a factor of the sum of squares.
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION double penalty(std::int64_t step) const {
    return rule.is_first ? rule.l2 / 2 * rule.rows_of(step) : 0;
  }
  /// Updates column `column`, whose sum over all rows is `sum`.
  KOKKOS_FORCEINLINE_FUNCTION void take(int column, double sum) const {
    const std::int64_t step = current(0);
    const double mean = sum / rule.rows_of(step);
    if (column == rule.classes * rule.pitch) {
      loss(step) = mean;
      taken(0) = step + 1;
      return;
    }
    const int c = column / rule.pitch, f = column % rule.pitch;
    if (f > rule.features) return;
    const double parameter = rule.after_step(theta(f * rule.classes + c), f, mean);
    theta(f * rule.classes + c) = parameter;
    weights(place_of_weight(c, f)) = static_cast<float>(parameter * rule.scale);
  }
};

// Kernels of a header that several files include are functors: nvcc names what it makes of a lambda in each file anew.

/// `columns`: of a team, whose partial sums `depth` lanes share.
constexpr Numbers finish_numbers =
    blocks::by_kind({.columns = 32, .depth = 16, .team = 512}, {.columns = 32, .depth = 1, .team = 1});

/// Adds the partial sums of the teams, [teams][classes x pitch], and their losses behind these, in an order that
/// depends on their number only; then takes the step, or leaves the sums to the all-reduce.
struct Finish {
  static constexpr int columns = finish_numbers.columns, parts = finish_numbers.depth, together = 9;
  State state;
  Vector<double> partials;
  int teams;
  bool alone;

  using Scratch = Kokkos::View<double*, Exec::scratch_memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  static std::size_t bytes() { return Scratch::shmem_size(columns * parts); }

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const Scratch sums(team.team_scratch(0), columns * parts);
    const int first = static_cast<int>(team.league_rank()) * columns, values = state.rule.columns() - 1;
    const int left = values + 1 - first, here = left < columns ? left : int{columns};
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, columns * parts), [&](int item) {
      const int part = item / columns, column = first + item % columns;
      if (column > values) return;
      const bool is_loss = column == values;
      const std::int64_t begin = is_loss ? std::int64_t{teams} * values : column, pitch = is_loss ? 1 : values;
      sums(item) = blocks::sum_in_order<together>((teams - part + parts - 1) / parts,
                                                  [&](int k) { return partials(begin + (part + k * parts) * pitch); });
    });
    team.team_barrier();
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, here), [&](int i) {
      double sum = 0;
      for (int part = 0; part < parts; ++part) sum += sums(part * columns + i);
      if (alone)
        state.take(first + i, sum);
      else
        state.sums(first + i) = sum;
    });
  }
};

/// Takes the step with the sums of all shards: a lane takes a column.
struct Take {
  static constexpr int columns = finish_numbers.team;
  State state;
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const int first = static_cast<int>(team.league_rank()) * columns, left = state.rule.columns() - first;
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, left < columns ? left : int{columns}),
                         [&](int i) { state.take(first + i, state.sums(first + i)); });
  }
};

/// A descent on the rows of a shard; a method adds the sums of its rows in `accumulate`.
template <class T>
class Solve : public IterativeShard {
 public:
  /// `run`: see `State`.
  Solve(const SoftmaxRegression& problem, const Context& context, const Shard& shard, std::int64_t run)
      : IterativeShard(context, shard),
        exec_(kokkos::instance(runtime(), queue())),
        memory_(*this, problem),
        run_(static_cast<int>(run)) {
    memory_.declare_weights(ceil_div(problem.pitch, run) * run);
  }
  void begin() const override {
    queue().submit(
        [exec = exec_, theta = memory_.theta.view(), weights = memory_.weights.view(), taken = memory_.taken.view()] {
          Kokkos::deep_copy(exec, theta, 0.0);
          Kokkos::deep_copy(exec, weights, 0.0F);
          Kokkos::deep_copy(exec, taken, std::int64_t{0});
        });
  }
  [[nodiscard]] Buffer sums() const override { return kokkos::buffer_of(memory_.sums); }
  void update() const override {
    const State state = this->state();
    kokkos::submit(queue(), "softmax/take",
                   kokkos::light(Team(exec_, ceil_div(state.rule.columns(), Take::columns), finish_numbers.team, 1)),
                   Take{state});
  }

 protected:
  [[nodiscard]] const SoftmaxRegression& problem() const { return memory_.problem; }
  /// Maximum rows per step on this shard.
  [[nodiscard]] std::int64_t max_rows() const { return memory_.max_rows(); }
  [[nodiscard]] State state() const {
    return {memory_.rule(),       run_,
            memory_.theta.view(), memory_.loss.view(),
            memory_.sums.view(),  memory_.weights.view(),
            memory_.taken.view(), memory_.current.view()};
  }
  [[nodiscard]] Vector<const T> x() const { return memory_.x.view(); }
  [[nodiscard]] Vector<const std::int32_t> labels() const { return memory_.labels.view(); }
  /// Adds what `teams` teams left, and takes the step of a shard that is alone.
  void finish(const Vector<double>& partials, int teams) const {
    const Finish kernel{state(), partials, teams, is_alone()};
    const int league = ceil_div(kernel.state.rule.columns(), Finish::columns);
    Team policy(exec_, league, finish_numbers.team, 1);
    policy.set_scratch_size(0, Kokkos::PerTeam(Finish::bytes()));
    kokkos::submit(queue(), "softmax/finish", kokkos::light(policy), kernel);
  }

  const Exec& exec_;

 private:
  Memory<T, kokkos::Array> memory_;
  int run_;
};

}  // namespace league::softmax_regression::kokkos_model
