// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/softmax_regression/common/kokkos_specialised.hpp"

#include "algorithms/blocks/group_native_kokkos.hpp"
#include "algorithms/blocks/league_barrier_kokkos.hpp"
#include "algorithms/blocks/words_native.hpp"
#include "algorithms/softmax_regression/persistent/shard.hpp"

namespace league::softmax_regression::kokkos_specialised_model {
namespace {

using Threads = blocks::NativeThreads;
using Words = blocks::NativeWords;

/// Kokkos promises a team of a GPU 40 KB, in which as many teams must fit as have registers; one of a host has 32 KB.
template <int quads>
using Scratch = PersistentScratch<quads, kokkos::on_gpu && teams_with_registers<quads> == 1 ? 30 : 14>;
template <int quads>
inline constexpr int scratch_bytes = static_cast<int>(sizeof(Scratch<quads>)) + 16;

// One league takes all steps; teams send each other their sums in stamped words, if there are several. All teams must
// be on the device at once: the league is limited to what the launch bounds let in. On a host there is one.
template <class T, int quads>
struct AllSteps {
  PersistentWork<T> work;
  int threads;

  KOKKOS_FUNCTION void operator()(const Member& member) const {
    auto& own = *Threads::template kept_shared<16>(scratch_of<Scratch<quads>>(member, 1));
    take_all_steps<Words>(Threads::of(member, threads), member.league_rank(), member.league_size(), work,
                          blocks::KokkosAtomics{}, own);
  }
};

template <class T>
class Persistent final : public IterativeShard {
 public:
  Persistent(const SoftmaxRegression& problem, const Context& context, const Shard& shard)
      : IterativeShard(context, shard),
        exec_(kokkos::instance(context.runtime, queue())),
        memory_(*this, context, problem) {}
  Launch configure(Launch launch) override {
    const auto held = [&](Launch wanted) {
      return with_quads(memory_.rows.problem, [&]<int quads>() {
        kokkos::require_scratch(scratch_bytes<quads>, "team size " + std::to_string(wanted.team));
        return blocks::teams_at_once(exec_, multiprocessors(*this), max_threads, teams_with_registers<quads>, wanted,
                                     scratch_bytes<quads>);
      });
    };
    return memory_.configure(launch, kokkos::on_gpu ? max_threads : 1, kokkos::limits(queue()), multiprocessors(*this),
                             held);
  }
  void begin() const override {
    queue().submit([exec = exec_, board = memory_.board.view()] { Kokkos::deep_copy(exec, board, 0); });
  }
  void accumulate() const override {
    with_quads(memory_.rows.problem, [&]<int quads>() {
      const Launch& launch = memory_.launch;
      Kokkos::TeamPolicy<Exec, Kokkos::IndexType<std::int64_t>,
                         Kokkos::LaunchBounds<max_threads, kokkos::launch_bound(teams_with_registers<quads>)>>
          policy(exec_, launch.league, launch.team, 1);
      policy.set_scratch_size(0, Kokkos::PerTeam(scratch_bytes<quads>));
      kokkos::submit(queue(), "softmax/persistent", policy, AllSteps<T, quads>{memory_.work(), launch.team});
    });
  }
  [[nodiscard]] Buffer sums() const override { return buffer_of(memory_.rows.sums.data(), memory_.rows.sums.size()); }
  void update() const override {}

 private:
  Exec exec_;
  PersistentMemory<T, kokkos::Array> memory_;
};

const RegisterWholeSolve<SoftmaxRegression> persistent{"persistent", kokkos::specialised_model, by_type<Persistent>};

}  // namespace
}  // namespace league::softmax_regression::kokkos_specialised_model
