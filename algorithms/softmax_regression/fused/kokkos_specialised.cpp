// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/words_native.hpp"
#include "algorithms/softmax_regression/fused/kokkos_specialised_host.hpp"
#include "algorithms/softmax_regression/fused/shard.hpp"

namespace league::softmax_regression::kokkos_specialised_model {
namespace {

using Words = blocks::NativeWords;

// A team takes every teams-th tile of rows. For the logits, a thread takes four rows, five classes and a slice of the
// features; for the softmax, a row; for the gradient, four features, whose sums over the team's tiles stay in its
// registers.
template <class T>
void fused(const Exec& exec, Launch launch, int scratch_bytes, const FusedWork<T>& work) {
  Kokkos::TeamPolicy<Exec, Kokkos::IndexType<std::int64_t>, Kokkos::LaunchBounds<max_threads, kokkos::launch_bound(2)>>
      policy(exec, launch.league, launch.team, 1);
  policy.set_scratch_size(0, Kokkos::PerTeam(scratch_bytes + 16));
  using TeamMember = typename decltype(policy)::member_type;
  Kokkos::parallel_for(
      "softmax/fused", policy, KOKKOS_LAMBDA(const TeamMember& team) {
        using Tile = Tile<T>;
        using Word = WordOf<T>;
        const Descent& descent = work.descent;
        const int quads = descent.pitch / 4, pitch = Tile::pitch(quads);
        float* slots = scratch_of<float>(team, scratch_bytes / 4);
        float* logits = slots + Tile::slots * Tile::slot_size;
        Word* tile = reinterpret_cast<Word*>(logits + Tile::rows * turn_pitch);
        const int threads = static_cast<int>(team.team_size()), thread = static_cast<int>(team.team_rank());
        const int slice = Tile::slice(thread), slices = Tile::slice(threads);

        const std::int64_t step = *descent.taken;
        const Rows rows = descent.own_rows(step);
        double loss = team.league_rank() == 0 ? descent.penalty(step, thread, threads) : 0;
        if (team.league_rank() == 0 && thread == 0) *descent.current = step;
        Quad gradient[classes_together] = {};
        int places[Tile::thread_rows];
        for (int row = 0; row < Tile::thread_rows; ++row)
          places[row] = (Tile::group(thread) * Tile::thread_rows + row) * pitch;
        const Quad* weights = work.weights(0, Tile::half(thread));
        int tiles = 0;

        constexpr int half_tile = Column<T, Words>::rows;
        const auto fetch = [&](std::int64_t from) {
          Column<T, Words> column;
          const std::int64_t left = thread < quads ? rows.last - from : 0;
          column.fetch(work.words(from) + thread, blocks::recomputed(quads, from),
                       static_cast<int>(left < half_tile ? left : half_tile));
          return column;
        };
        const auto put = [&](int row, const Column<T, Words>& from) {
          if (thread < quads) from.put(tile + row * pitch + thread, pitch);
        };
        const auto gradient_from = [&](int row) {
          if (thread < quads)
            add_gradient<T, Words>(tile + row * pitch + thread, pitch, logits + row * turn_pitch, turn_pitch, half_tile,
                                   gradient);
        };
        std::int64_t first = rows.first + std::int64_t{team.league_rank()} * Tile::rows;
        {
          const Column<T, Words> upper = fetch(first), lower = fetch(first + half_tile);
          put(0, upper);
          put(half_tile, lower);
        }
        for (const std::int64_t stride = std::int64_t{team.league_size()} * Tile::rows; first < rows.last;
             first += stride) {
          const int label = thread < Tile::rows && first + thread < rows.last ? work.labels[first + thread] : -1;
          team.team_barrier();
          typename Tile::Logits z = {};
          if (slice < slices)
            add_logits<T, Words>(tile, places, weights, resident_pitch / 4, slice, slices, work.quads, z);
          for (int round = (slices - 1) / Tile::slots; round >= 0; --round) {
            if (slice < slices && slice / Tile::slots == round) put_logits<T>(z, thread, slices, slots);
            team.team_barrier();
          }
          const Column<T, Words> upper = fetch(first + stride);
          sum_logits<T>(slots, slices, logits, turn_pitch, thread, threads);
          team.team_barrier();
          if (thread < Tile::rows) loss += finish_turn(descent.classes, label, logits + thread * turn_pitch);
          team.team_barrier();
          gradient_from(0);
          team.team_barrier();
          put(0, upper);
          const Column<T, Words> lower = fetch(first + stride + half_tile);
          gradient_from(half_tile);
          if (thread < quads && ++tiles % (rows_together / Tile::rows) == 0)
            work.store(team.league_rank(), thread, tiles > rows_together / Tile::rows, gradient);
          team.team_barrier();
          put(half_tile, lower);
        }
        if (thread < quads && (tiles == 0 || tiles % (rows_together / Tile::rows) != 0))
          work.store(team.league_rank(), thread, tiles > rows_together / Tile::rows, gradient);
        store_loss(team, loss, work.losses, reinterpret_cast<double*>(slots));
      });
}

// The same for more features or classes: rows are read from global memory, classes are taken in turns, and a tile's
// gradient is added to the team's in memory.
template <class T>
void fused_wide(const Exec& exec, Launch launch, int scratch_bytes, const FusedWork<T>& work) {
  Kokkos::TeamPolicy<Exec, Kokkos::IndexType<std::int64_t>, Kokkos::LaunchBounds<max_threads, 1>> policy(
      exec, launch.league, launch.team, 1);
  policy.set_scratch_size(0, Kokkos::PerTeam(scratch_bytes + 16));
  using TeamMember = typename decltype(policy)::member_type;
  Kokkos::parallel_for(
      "softmax/fused_wide", policy, KOKKOS_LAMBDA(const TeamMember& team) {
        using Tile = Tile<T>;
        using Word = WordOf<T>;
        const Descent& descent = work.descent;
        const int quads = descent.pitch / 4, all_turns = turns(descent.classes), pitch = all_turns * turn_pitch;
        float* slots = scratch_of<float>(team, scratch_bytes / 4);
        float* logits = slots + Tile::slots * Tile::slot_size;
        const int threads = static_cast<int>(team.team_size()), thread = static_cast<int>(team.team_rank());
        const int slice = Tile::slice(thread), slices = Tile::slice(threads);

        const std::int64_t step = *descent.taken;
        const Rows rows = descent.own_rows(step);
        double loss = team.league_rank() == 0 ? descent.penalty(step, thread, threads) : 0;
        if (team.league_rank() == 0 && thread == 0) *descent.current = step;
        work.clear(team.league_rank(), thread, threads);

        for (std::int64_t first = rows.first + std::int64_t{team.league_rank()} * Tile::rows; first < rows.last;
             first += std::int64_t{team.league_size()} * Tile::rows) {
          const int count = static_cast<int>(Kokkos::min(std::int64_t{Tile::rows}, rows.last - first));
          const Word* x = work.words(first);
          int places[Tile::thread_rows];
          for (int row = 0; row < Tile::thread_rows; ++row)
            places[row] = Kokkos::min(Tile::group(thread) * Tile::thread_rows + row, count - 1) * quads;
          for (int turn = 0; turn < all_turns; ++turn) {
            typename Tile::Logits z = {};
            if (slice < slices)
              add_logits<T, Words>(x, places, work.weights(turn, Tile::half(thread)), quads, slice, slices, work.quads,
                                   z);
            for (int round = (slices - 1) / Tile::slots; round >= 0; --round) {
              if (slice < slices && slice / Tile::slots == round) put_logits<T>(z, thread, slices, slots);
              team.team_barrier();
            }
            sum_logits<T>(slots, slices, logits + turn * turn_pitch, pitch, thread, threads);
            team.team_barrier();
          }
          if (thread < Tile::rows)
            loss +=
                finish_row(descent.classes, thread < count ? work.labels[first + thread] : -1, logits + thread * pitch);
          team.team_barrier();
          for (int item = thread; item < all_turns * quads; item += threads) {
            Quad gradient[classes_together] = {};
            add_gradient<T, Words>(x + item % quads, quads, logits + item / quads * turn_pitch, pitch, count, gradient);
            work.add(team.league_rank(), item / quads, item % quads, gradient);
          }
          team.team_barrier();
        }
        store_loss(team, loss, work.losses, reinterpret_cast<double*>(slots));
      });
}

template <class T>
class FusedOnGpu final : public IterativeShard {
 public:
  FusedOnGpu(const SoftmaxRegression& problem, const Context& context, const Shard& shard)
      : IterativeShard(context, shard), exec_(kokkos::instance(context.runtime, queue())), memory_(*this, problem) {}
  Launch configure(Launch launch) override {
    const Launch effective = memory_.configure(launch, kokkos::limits(queue()), multiprocessors(*this));
    kokkos::require_scratch(static_cast<std::size_t>(memory_.plan.scratch_bytes) + 16,
                            "team size " + std::to_string(effective.team));
    return effective;
  }
  void begin() const override { clear_state(exec_, memory_.rows); }
  void accumulate() const override {
    const Plan& plan = memory_.plan;
    (plan.resident ? fused<T> : fused_wide<T>)(exec_, plan.launch, plan.scratch_bytes, memory_.work());
    const SoftmaxRegression& problem = memory_.rows.problem;
    memory_.with_partials([&](const auto* partials) {
      add_partials(exec_, memory_.rows, partials, problem.classes * problem.pitch, plan.launch.league,
                   memory_.losses.data(), plan.launch.league);
    });
  }
  [[nodiscard]] Buffer sums() const override { return buffer_of(memory_.rows.sums.data(), memory_.rows.sums.size()); }
  void update() const override { take_step(exec_, memory_.rows); }

 private:
  Exec exec_;
  FusedMemory<T, kokkos::Array> memory_;
};

template <class T>
using Fused = std::conditional_t<kokkos::on_gpu, FusedOnGpu<T>, FusedOnHost<T>>;
const RegisterSolve<SoftmaxRegression> stepwise{"fused", kokkos::specialised_model, by_type<Fused>};

}  // namespace
}  // namespace league::softmax_regression::kokkos_specialised_model
