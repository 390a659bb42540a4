// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/group_kokkos.hpp"
#include "algorithms/softmax_regression/common/memory.hpp"
#include "backends/kokkos/submit.hpp"

namespace league::softmax_regression::kokkos_specialised_model {

using kokkos::Exec, kokkos::Member, kokkos::Team;

inline constexpr int columns_together = 32;  // 128 bytes of floats
/// Partial sums read at once. On a host one thread adds the few there are.
inline constexpr int summands_together = kokkos::on_gpu ? 16 : 1;
/// Of these, by a thread: all that 144 teams leave it.
inline constexpr int of_thread_together = kokkos::on_gpu ? 9 : 1;

/// Scratch of a team.
template <class T, class TeamMember>
KOKKOS_FUNCTION T* scratch_of(const TeamMember& team, int size) {
  return kokkos::aligned_scratch<T>(team, static_cast<std::size_t>(size) * sizeof(T));
}

/// Reduces the losses of the threads of a team. @pre scratch holds a double for each of them
template <class TeamMember>
KOKKOS_FUNCTION void store_loss(const TeamMember& team, double loss, double* losses, double* scratch) {
  const auto group = blocks::team_group(team, static_cast<int>(team.team_size()));
  scratch[group.rank] = loss;
  blocks::combine_in_scratch(group, scratch, [](double a, double b) { return a + b; });
  if (group.rank == 0) losses[team.league_rank()] = scratch[0];
}

// A team takes neighbouring columns; a thread every `summands_together`-th partial sum of one column (on a host, of
// all).
/// Adds the `count` partial gradients, `partial_pitch` apart, and the `losses`, in an order that depends on their
/// number only; then takes the step, or writes `sums` for the all-reduce.
template <class Partial>
struct Finish {
  static constexpr int width = kokkos::on_gpu ? columns_together : 1;
  Descent descent;
  const Partial* partials;
  std::int64_t partial_pitch;
  int count;
  const double* losses;
  int losses_count;
  double* sums;

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    double* parts = scratch_of<double>(team, columns_together * summands_together);
    const int part = static_cast<int>(team.team_rank()) / width, columns = descent.columns(), values = columns - 1;
    for (int lane = static_cast<int>(team.team_rank()) % width; lane < columns_together; lane += width) {
      const int column = static_cast<int>(team.league_rank()) * columns_together + lane;
      double sum = 0;
      Descent::Before before{};
      if (part == 0 && column < columns) before = descent.before(column);
      if (column < values)
        sum = sum_of_part<of_thread_together>(part, summands_together, count,
                                              [&](int i) { return partials[i * partial_pitch + column]; });
      else if (column == values)
        sum = sum_of_part<of_thread_together>(part, summands_together, losses_count, [&](int i) { return losses[i]; });
      parts[part * columns_together + lane] = sum;
      team.team_barrier();
      if (part != 0 || column >= columns) continue;
      for (int i = 1; i < summands_together; ++i) sum += parts[i * columns_together + lane];
      if (sums != nullptr)
        sums[column] = sum;
      else
        descent.take(column, sum, before);
    }
  }
};

// A thread takes a column.
struct Take {
  static constexpr int threads = kokkos::on_gpu ? 256 : 1;
  Descent descent;
  const double* sums;

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const int stride = static_cast<int>(team.league_size()) * threads;
    for (int column = static_cast<int>(team.league_rank()) * threads + static_cast<int>(team.team_rank());
         column < descent.columns(); column += stride)
      descent.take(column, sums[column]);
  }
};

/// Adds the partial gradients of a step, and takes the step if there is only one shard.
template <class M, class Partial>
void add_partials(const Exec& exec, const M& memory, const Partial* partials, std::int64_t partial_pitch, int count,
                  const double* losses, int losses_count) {
  using Kernel = Finish<Partial>;
  const Kernel kernel{memory.descent(), partials, partial_pitch, count, losses, losses_count, memory.shared_sums()};
  Team policy(exec, ceil_div(kernel.descent.columns(), columns_together), Kernel::width * summands_together, 1);
  policy.set_scratch_size(0, Kokkos::PerTeam(columns_together * summands_together * 8 + 16));
  kokkos::submit(memory.shard.queue(), "softmax/finish", policy, kernel);
}

/// Sets the initial state.
template <class M>
void clear_state(const Exec& exec, const M& memory) {
  memory.shard.queue().submit(
      [exec, theta = memory.theta.view(), weights = memory.weights.view(), taken = memory.taken.view()] {
        Kokkos::deep_copy(exec, theta, 0.0);
        Kokkos::deep_copy(exec, weights, 0.0F);
        Kokkos::deep_copy(exec, taken, std::int64_t{0});
      });
}

/// Takes the step with the sums of all shards.
template <class M>
void take_step(const Exec& exec, const M& memory) {
  if (memory.shard.is_alone()) return;  // done by `add_partials`
  const Take kernel{memory.descent(), memory.sums.data()};
  const int teams = kokkos::on_gpu ? ceil_div(kernel.descent.columns(), Take::threads) : exec.concurrency();
  kokkos::submit(memory.shard.queue(), "softmax/take", Team(exec, teams, Take::threads, 1), kernel);
}

}  // namespace league::softmax_regression::kokkos_specialised_model
