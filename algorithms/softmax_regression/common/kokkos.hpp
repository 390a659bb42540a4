// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>

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
  /// Updates column `column` in step `step`: its sum over all rows is `sum`.
  KOKKOS_FORCEINLINE_FUNCTION void take(std::int64_t step, int column, double sum) const {
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

/// `columns`: of a team. A lane adds every `sums`-th partial sum of `width` columns, `depth` of them loaded together.
constexpr Numbers finish_numbers =
    blocks::by_kind({.columns = 32, .width = 1, .depth = 9, .sums = 16, .team = 512},
                    {.columns = 256, .width = blocks::host_vector_bytes / 8, .depth = 1, .sums = 1, .team = 1});

/// Columns of the sums of a team, the padding to whole packs included.
KOKKOS_FORCEINLINE_FUNCTION constexpr int partial_pitch(int columns) { return (columns + 15) / 16 * 16; }

/// Adds the sums of `teams` teams, [teams][partial_pitch], in an order that depends on their number only; then takes
/// the step, or leaves the sums to the all-reduce.
struct Finish {
  static constexpr int columns = finish_numbers.columns, width = finish_numbers.width, runs = columns / width;
  static constexpr int parts = finish_numbers.sums, together = finish_numbers.depth;
  State state;
  Vector<double> partials;
  int teams;
  bool alone;

  using Scratch = Kokkos::View<double*, Exec::scratch_memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  static std::size_t bytes() { return Scratch::shmem_size(columns * parts); }

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const Scratch sums(team.team_scratch(0), columns * parts);
    const int first = static_cast<int>(team.league_rank()) * columns, left = state.rule.columns() - first;
    const int here = left < columns ? left : int{columns};
    const std::int64_t step = state.current(0);  // on its way with the sums
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, runs * parts), [&](int item) {
      const int part = item / runs, at = item % runs * width;
      if (at < here) add(part, first, at, sums);
    });
    team.team_barrier();
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, here), [&](int i) {
      double sum = 0;
      for (int part = 0; part < parts; ++part) sum += sums(part * columns + i);
      if (alone)
        state.take(step, first + i, sum);
      else
        state.sums(first + i) = sum;
    });
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION void add(int part, int first, int at, const Scratch& sums) const {
    const std::int64_t pitch = partial_pitch(state.rule.columns());
    double sum[width] = {};
    for (int k = part; k < teams; k += together * parts) {
      double next[together][width] = {};
      for (int n = 0; n < together; ++n) {
        if (k + n * parts >= teams) break;
        LEAGUE_VECTORISED
        for (int w = 0; w < width; ++w) next[n][w] = partials((k + n * parts) * pitch + first + at + w);
      }
      for (int n = 0; n < together; ++n) {
        LEAGUE_VECTORISED
        for (int w = 0; w < width; ++w) sum[w] += next[n][w];
      }
    }
    for (int w = 0; w < width; ++w) sums(part * columns + at + w) = sum[w];
  }
};

/// Takes the step with the sums of all shards: a lane takes a column.
struct Take {
  static constexpr int columns = finish_numbers.columns;
  State state;
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const int first = static_cast<int>(team.league_rank()) * columns, left = state.rule.columns() - first;
    const std::int64_t step = state.current(0);
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, left < columns ? left : int{columns}),
                         [&](int i) { state.take(step, first + i, state.sums(first + i)); });
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
                   kokkos::light(Team(exec_, ceil_div(state.rule.columns(), Take::columns), lanes(finish_numbers), 1)),
                   Take{state});
  }

 protected:
  /// The team of a kernel beside the method's first.
  [[nodiscard]] int lanes(const Numbers& numbers) const { return std::min(numbers.team, exec_.concurrency()); }
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
    Team policy(exec_, league, lanes(finish_numbers), 1);
    policy.set_scratch_size(0, Kokkos::PerTeam(Finish::bytes()));
    kokkos::submit(queue(), "softmax/finish", kokkos::light(policy), kernel);
  }

  const Exec& exec_;

 private:
  Memory<T, kokkos::Array> memory_;
  int run_;
};

}  // namespace league::softmax_regression::kokkos_model
