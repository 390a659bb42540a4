// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <vector>

#include "algorithms/cnn/host_unit_teams.hpp"
#include "algorithms/cnn/unit_method.hpp"

namespace league::cnn {

template <class Unit>
using UnitTeamsOf = UnitTeams<LoopStep<HostRouted>, GpuMemory, UnitDense<Unit, Mnist>, UnitDenseBackward<Unit, Mnist>,
                              UnitForward<Unit>, UnitWeights<Unit>, UnitInputs<Unit>>;

/// The methods `tensor_*` on host threads: the work of GPU teams on a host's matrix unit, one thread per team; the rest
/// as in `LoopStep`.
template <class Unit, class Backward>
struct UnitStep : UnitTeamsOf<Unit> {
  using Loops = LoopStep<HostRouted>;
  using Base = UnitTeamsOf<Unit>;
  using typename Base::Take;
  using Forward = UnitForward<Unit>;
  using Weights = UnitWeights<Unit>;
  using Inputs = UnitInputs<Unit>;
  /// The threads' scratch, and the packed weights.
  class Memory : public Loops::Memory {
   public:
    template <class MethodShard>
    void configure(MethodShard& shard, const State& state, int threads) {
      Loops::Memory::configure(shard, state, threads);
      shard.take_form(form_of<Unit>(Backward::rounds));
      team_scratch_.resize(static_cast<std::size_t>(threads) * Base::team_packs);
      for (auto* filters : {&forward_, &backward_}) filters->resize(channels1 * taps * channels2 / Four::size);
      if (Backward::rounds) partials_.resize(static_cast<std::size_t>(threads) * fc1_weights);
    }
    [[nodiscard]] GpuMemory memory(const State& state) {
      return {.forward2 = forward_.front().values,
              .backward2 = backward_.front().values,
              .products = state.h,
              .partials = partials_.data(),
              .slices = 1};
    }
    [[nodiscard]] Four* team_scratch() { return team_scratch_.data(); }

   private:
    std::vector<Four> team_scratch_, forward_, backward_;
    std::vector<float> partials_;  ///< [threads][fc1_weights]
  };
  UnitStep(const State& with, int count, Memory& memory)
      : Base(Loops(with, count, memory), memory.memory(with), memory.team_scratch()) {}

  template <class Threads>
  void forward(const Threads& all, const Take& take) const {
    using Pack = PackFilters<Unit, Backward>;
    all([&](int thread) { Base::template pack<Pack>(channels2 * channels1 * taps, thread); });
    all([&](int thread) { Base::template items<Forward>(take, thread, Forward::items(take.count)); });
    Base::dense(all, take);
  }
  template <class Threads>
  void convolve_back(const Threads& all, const Take& take) const {
    if constexpr (Backward::rounds) {
      all([&](int thread) {
        Base::template sums<Weights>(take, thread, Weights::shares);
        Inputs::run(blocks::one_thread, Base::state, Base::memory_, take, thread, Base::threads, Base::of_team(thread));
      });
      all([&](int thread) { add_partials(thread); });
    } else {
      all([&](int thread) { Base::differentiate_convolutions(take, thread); });
      all([&](int thread) { Base::add_convolutions(thread); });
    }
  }

 private:
  void add_partials(int thread) const {
    const Range mine = Base::part(fc1_weights, thread);
    for (auto at = static_cast<int>(mine.begin); at < mine.end; ++at)
      Base::state.gradient[Partials::parameter(at)] = Base::sum_of(Base::memory_.partials, fc1_weights, at);
  }
};

}  // namespace league::cnn
