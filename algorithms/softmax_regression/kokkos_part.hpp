// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/softmax_regression/part.hpp"
#include "backends/kokkos/kokkos.hpp"

namespace league::softmax_regression::kokkos_model {

using kokkos::Exec, kokkos::Member, kokkos::Team;

inline constexpr int columns_together = 32;  // 128 bytes of floats
/// Partial sums that are read at once. A host's few are added by one thread.
inline constexpr int summands_together = kokkos::on_gpu ? 16 : 1;

/// Scratch of a team, aligned.
template <class T, class TeamMember>
KOKKOS_FUNCTION T* scratch_of(const TeamMember& team, int size) {
  return static_cast<T*>(team.team_scratch(0).get_shmem_aligned(static_cast<std::size_t>(size) * sizeof(T), 16));
}

// A team takes neighbouring columns; a thread every `summands_together`-th partial sum of one of them (on a host, of
// all).
/// Adds the `count` partial gradients, `partial_pitch` apart, and the `losses`, in an order that depends on their
/// number alone; then takes the step with the sums, or leaves them in `sums` for the other devices'.
template <class Partial>
void finish(const Exec& exec, const Descent& descent, const Partial* partials, std::int64_t partial_pitch, int count,
            const double* losses, int losses_count, double* sums) {
  constexpr int width = kokkos::on_gpu ? columns_together : 1;
  const int teams = ceil_div(descent.columns(), columns_together);
  Team policy(exec, teams, width * summands_together, 1);
  policy.set_scratch_size(0, Kokkos::PerTeam(columns_together * summands_together * 8 + 16));
  Kokkos::parallel_for(
      "softmax/finish", policy, KOKKOS_LAMBDA(const Member& team) {
        double* parts = scratch_of<double>(team, columns_together * summands_together);
        const int part = static_cast<int>(team.team_rank()) / width, columns = descent.columns(), values = columns - 1;
        for (int lane = static_cast<int>(team.team_rank()) % width; lane < columns_together; lane += width) {
          const int column = static_cast<int>(team.league_rank()) * columns_together + lane;
          double sum = 0;
          if (column < values)
            for (int i = part; i < count; i += summands_together)
              sum += static_cast<double>(partials[i * partial_pitch + column]);
          else if (column == values)
            for (int i = part; i < losses_count; i += summands_together) sum += losses[i];
          parts[part * columns_together + lane] = sum;
          team.team_barrier();
          if (part != 0 || column >= columns) continue;
          for (int i = 1; i < summands_together; ++i) sum += parts[i * columns_together + lane];
          if (sums != nullptr)
            sums[column] = sum;
          else
            descent.take(column, sum);
        }
      });
}

// A thread takes a column.
inline void take(const Exec& exec, const Descent& descent, const double* sums) {
  constexpr int threads = kokkos::on_gpu ? 256 : 1;
  const int teams = kokkos::on_gpu ? ceil_div(descent.columns(), threads) : exec.concurrency();
  Kokkos::parallel_for(
      "softmax/take", Team(exec, teams, threads, 1), KOKKOS_LAMBDA(const Member& team) {
        const int stride = static_cast<int>(team.league_size()) * threads;
        for (int column = static_cast<int>(team.league_rank()) * threads + static_cast<int>(team.team_rank());
             column < descent.columns(); column += stride)
          descent.take(column, sums[column]);
      });
}

/// The team's loss, from those of its threads. @pre scratch holds a double for each of them
template <class TeamMember>
KOKKOS_FUNCTION void store_loss(const TeamMember& team, double loss, double* losses, double* scratch) {
  const int threads = static_cast<int>(team.team_size()), thread = static_cast<int>(team.team_rank());
  scratch[thread] = loss;
  for (int left = threads, half = (left + 1) / 2; left > 1; left = half, half = (left + 1) / 2) {
    team.team_barrier();
    if (thread < left / 2) scratch[thread] += scratch[thread + half];
  }
  if (thread == 0) losses[team.league_rank()] = scratch[0];
}

template <class T>
class KokkosPart : public SoftmaxPart<T, kokkos::Array> {
 public:
  KokkosPart(const SoftmaxRegression& problem, const Context& context, const Shard& shard)
      : SoftmaxPart<T, kokkos::Array>(
            problem, context, shard,
            [&exec = kokkos::instance(context.runtime, context.runtime.queue(shard.device))](
                const char* label, auto& array, std::int64_t size) { array = {exec, label, size}; }),
        exec_(kokkos::instance(context.runtime, this->queue())) {}
  void begin() override {
    Kokkos::deep_copy(exec_, this->theta_.view(), 0.0);
    Kokkos::deep_copy(exec_, this->weights_.view(), 0.0F);
    Kokkos::deep_copy(exec_, this->taken_.view(), std::int64_t{0});
  }
  void update() override {
    if (this->alone_) return;  // done with the last of `accumulate`
    take(exec_, this->descent(), this->sums_.data());
  }

 protected:
  [[nodiscard]] auto maker() {
    return [this](const char* label, auto& array, std::int64_t size) {
      array = {};
      array = {exec_, label, size};
    };
  }
  template <class Partial>
  void add_partials(const Partial* partials, std::int64_t partial_pitch, int count, int losses_count) {
    finish(exec_, this->descent(), partials, partial_pitch, count, losses_.data(), losses_count,
           this->alone_ ? nullptr : this->sums_.data());
  }

  Exec exec_;
  kokkos::Array<double> losses_;  ///< of the teams
};

}  // namespace league::softmax_regression::kokkos_model
