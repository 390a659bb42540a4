// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/group_native_kokkos.hpp"
#include "algorithms/blocks/mma_native.hpp"
#include "algorithms/softmax_regression/common/kokkos_specialised.hpp"
#include "algorithms/softmax_regression/mma/shard.hpp"

namespace league::softmax_regression::kokkos_specialised_model {
namespace {

// A thread takes a block of 16 bytes.
template <class Unit, class T>
void pack(const Exec& exec, Queue& queue, const MmaRows<Unit, T>& rows) {
  if (rows.blocks() == 0) return;
  constexpr int threads = kokkos::on_gpu ? 256 : 1;
  const Team policy(exec, league_of(std::min<std::int64_t>(ceil_div<std::int64_t>(rows.blocks(), threads), 1 << 20)),
                    threads, 1);
  kokkos::submit(
      queue, "softmax/pack", policy, KOKKOS_LAMBDA(const Member& team) {
        for (std::int64_t number = team.league_rank() * threads + team.team_rank(); number < rows.blocks();
             number += team.league_size() * threads)
          rows.pack(number);
      });
}

// A team takes the weights of a class.
template <class Unit, int threads>
void split(const Exec& exec, Queue& queue, int scratch_bytes, const MmaWork<Unit>& work, typename Unit::Word* weights,
           int* constants, float* factors) {
  Team policy(exec, work.descent.classes, threads, 1);
  policy.set_scratch_size(0, Kokkos::PerTeam(scratch_bytes + 16));
  kokkos::submit(
      queue, "softmax/split", policy, KOKKOS_LAMBDA(const Member& team) {
        split_weights<Unit>(blocks::threads_of<threads>(team), work.descent, static_cast<int>(team.league_rank()),
                            work.across, weights, constants, factors, scratch_of<char>(team, scratch_bytes));
      });
}

// A team takes neighbouring rows of squares. With few features, a subgroup takes whole rows of squares by itself. Else,
// for the logits, a subgroup takes whole rows of squares; for the softmax, a thread per row; for the gradient, a
// subgroup some squares of features, whose sums stay in its registers.
template <int slots, class Unit>
void mma(const Exec& exec, Queue& queue, Launch launch, int scratch_bytes, const MmaWork<Unit>& work) {
  using Form = MmaForm<Unit, slots>;
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::IndexType<std::int64_t>, Kokkos::LaunchBounds<Form::threads, 1>>;
  using TeamMember = typename Policy::member_type;
  Policy policy(exec, launch.league, launch.team, 1);
  policy.set_scratch_size(0, Kokkos::PerTeam(scratch_bytes + 16));
  kokkos::submit(
      queue, "softmax/mma", policy, KOKKOS_LAMBDA(const TeamMember& team) {
        const Descent& descent = work.descent;
        const auto group = blocks::native_threads_of<Form::threads>(team);
        char* scratch = scratch_of<char>(team, scratch_bytes);
        const std::int64_t step = *descent.taken;
        if (team.league_rank() == 0 && group.rank == 0) *descent.current = step;
        double loss = Form::take(group, work, step, static_cast<int>(team.league_rank()),
                                 static_cast<int>(team.league_size()), scratch);
        if (team.league_rank() == 0) loss += descent.penalty(step, group.rank, group.size);
        group.barrier();
        store_loss(team, loss, work.losses, reinterpret_cast<double*>(scratch));
      });
}

template <class Unit, class T>
class Mma final : public IterativeShard {
  using Memory = MmaMemory<Unit, T, kokkos::Array>;

 public:
  Mma(const SoftmaxRegression& problem, const Context& context, const Shard& shard)
      : IterativeShard(context, shard), exec_(kokkos::instance(context.runtime, queue())), memory_(*this, problem) {}
  Launch configure(Launch launch) override {
    constexpr int threads_held = 2048;  // per multiprocessor, as concurrency() counts
    const int teams =
        kokkos::on_gpu ? std::max(1, static_cast<int>(exec_.concurrency()) / threads_held) : queue().device().threads;
    kokkos::require_scratch(static_cast<std::size_t>(memory_.scratch_bytes()) + 16, "the squares of this kernel");
    return memory_.configure(launch, kokkos::limits(queue()), teams);
  }
  void begin() const override {
    clear_state(exec_, memory_.rows);
    pack(exec_, queue(), memory_.packing());
  }
  void accumulate() const override {
    const Launch& launch = memory_.launch;
    memory_.form([&](auto slots) {
      if constexpr (slots == 0)
        split<Unit, Memory::split_threads>(exec_, queue(), Memory::split_bytes, memory_.work(), memory_.weights.data(),
                                           memory_.constants.data(), memory_.factors.data());
      mma<slots>(exec_, queue(), launch, memory_.scratch_bytes(), memory_.work());
    });
    const SoftmaxRegression& problem = memory_.rows.problem;
    memory_.with_partials([&](const auto* partials) {
      add_partials(exec_, memory_.rows, partials, problem.classes * problem.pitch, launch.league, memory_.losses.data(),
                   launch.league);
    });
  }
  [[nodiscard]] Buffer sums() const override { return buffer_of(memory_.rows.sums.data(), memory_.rows.sums.size()); }
  void update() const override { take_step(exec_, memory_.rows); }

 private:
  Exec exec_;
  Memory memory_;
};

const RegisterSolve<SoftmaxRegression> mma_variant{"mma", kokkos::specialised_model, by_unit<blocks::mma::Native, Mma>};

}  // namespace
}  // namespace league::softmax_regression::kokkos_specialised_model
