// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <vector>

#include "algorithms/cnn/host_step.hpp"
#include "algorithms/cnn/unit_method.hpp"

namespace league::cnn {

/// The methods `tensor_*` on host threads: the work of GPU teams on a host's matrix unit, one thread per team; the rest
/// as in `LoopStep`.
template <class Unit, class Backward>
struct UnitStep : LoopStep<HostRouted> {
  using Base = LoopStep<HostRouted>;
  using Forward = UnitForward<Unit>;
  using Dense = UnitDense<Unit, Mnist>;
  using DenseBackward = UnitDenseBackward<Unit, Mnist>;
  using Weights = UnitWeights<Unit>;
  using Inputs = UnitInputs<Unit>;
  /// The threads' scratch, and the packed weights.
  class Memory : public Base::Memory {
   public:
    template <class MethodShard>
    void configure(MethodShard& shard, const State& state, int threads) {
      Base::Memory::configure(shard, state, threads);
      shard.take_form(form_of<Unit>(Backward::rounds));
      team_scratch_.resize(static_cast<std::size_t>(threads) * team_packs);
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
      : Base(with, count, memory), memory_(memory.memory(with)), team_scratch_(memory.team_scratch()) {}

  template <class Threads>
  void forward(const Threads& all, const Take& take) const {
    all([&](int thread) { pack(thread); });
    all([&](int thread) { items<Forward>(take, thread, Forward::items(take.count)); });
    all([&](int thread) { items<Dense>(take, thread, Dense::items(take.count, memory_.slices)); });
    all([&](int thread) { Base::judge(take, thread); });
  }
  template <class Threads>
  void dense_back(const Threads& all, const Take& take) const {
    all([&](int thread) {
      Base::differentiate_last(take, thread);
      items<DenseBackward>(take, thread, DenseBackward::tiles(take.count));
    });
  }
  template <class Threads>
  void convolve_back(const Threads& all, const Take& take) const {
    if constexpr (Backward::rounds) {
      all([&](int thread) {
        for (int share = 0; share < Weights::shares; ++share)
          Weights::run(blocks::one_thread, Base::state, memory_, take, Weights::shares * thread + share,
                       Weights::shares * Base::threads, of_team(thread));
        Inputs::run(blocks::one_thread, Base::state, memory_, take, thread, Base::threads, of_team(thread));
      });
      all([&](int thread) { add_partials(thread); });
    } else {
      all([&](int thread) { Base::differentiate_convolutions(take, thread); });
      all([&](int thread) { Base::add_convolutions(thread); });
    }
  }

 private:
  static constexpr std::size_t team_packs =
      static_cast<std::size_t>(std::max({Forward::scratch_bytes, Dense::scratch_bytes, DenseBackward::scratch_bytes,
                                         Weights::scratch_bytes, Inputs::scratch_bytes})) /
          sizeof(Four) +
      1;

  void pack(int thread) const {
    const Range mine = Base::part(channels2 * channels1 * taps, thread);
    for (auto at = static_cast<int>(mine.begin); at < mine.end; ++at)
      PackFilters<Unit, Backward>{Base::state, memory_}(at);
  }
  [[nodiscard]] float* of_team(int thread) const {
    return team_scratch_[static_cast<std::size_t>(thread) * team_packs].values;
  }
  void add_partials(int thread) const {
    const Range mine = Base::part(fc1_weights, thread);
    for (auto at = static_cast<int>(mine.begin); at < mine.end; ++at) {
      float sum = 0;
      for (int team = 0; team < Base::threads; ++team) sum += memory_.partials[std::int64_t{team} * fc1_weights + at];
      Base::state.gradient[Partials::parameter(at)] = sum;
    }
  }
  template <class Kernel>
  void items(const Take& take, int thread, int count) const {
    const Range mine = Base::part(count, thread);
    for (auto item = static_cast<int>(mine.begin); item < mine.end; ++item)
      Kernel::run(blocks::one_thread, Base::state, memory_, take, item, of_team(thread));
  }

  GpuMemory memory_;
  Four* team_scratch_;
};

}  // namespace league::cnn
