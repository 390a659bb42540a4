// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <vector>

#include "algorithms/cnn/host_step.hpp"
#include "algorithms/cnn/unit_layers.hpp"

/// The methods `tensor_*` of a network in layers on host threads: the work of GPU teams on a host's matrix unit, one
/// thread per team.
namespace league::cnn {

template <class Unit, class N>
struct UnitLayerStep : HostStepOf<N> {
  using Base = HostStepOf<N>;
  using Method = UnitLayers<Unit, N>;
  using Dense = typename Method::Dense;
  using DenseBackward = typename Method::DenseBackward;
  using typename Base::Take;
  static constexpr int convolutions = N::network.count;
  static_assert(convolutions == 3 && !N::network.drops);

  /// The threads' scratch, and the arrays of the kernels.
  class Memory {
   public:
    template <class MethodShard>
    void configure(MethodShard& shard, const StateOf<N>& state, int threads) {
      shard.take_form(Method::form);
      team_scratch_.resize(static_cast<std::size_t>(threads) * team_packs);
      const std::int64_t images = std::max<std::int64_t>(state.own_count, 1);
      for (int n = 0; n < convolutions; ++n) {
        const Convolution& of = N::network.convolutions[n];
        resize(forward_[n], Method::filters(n));
        resize(backward_[n], Method::filters(n));
        resize(a_[n], images * Method::outputs(of.values()));
        resize(d_a_[n], images * of.values());
        resize(partials_[n], std::int64_t{threads} * (of.outputs * of.terms() + of.outputs));
      }
    }
    [[nodiscard]] LayersMemory<N> memory(const StateOf<N>& state, int threads) {
      LayersMemory<N> all{.products = state.h, .slices = 1};
      for (int n = 0; n < convolutions; ++n) {
        all.forward[n] = forward_[n].front().values, all.backward[n] = backward_[n].front().values;
        if (n + 1 < convolutions) all.a[n] = a_[n].front().values, all.d_a[n] = d_a_[n].front().values;
        all.partials[n] = partials_[n].front().values, all.sets[n] = threads;
      }
      return all;
    }
    [[nodiscard]] Four* team_scratch() { return team_scratch_.data(); }

   private:
    using Array = std::vector<Four>;
    static void resize(Array& array, std::int64_t floats) { array.resize(static_cast<std::size_t>(floats) / 4 + 1); }
    Array team_scratch_, forward_[convolutions], backward_[convolutions], a_[convolutions], d_a_[convolutions],
        partials_[convolutions];
  };
  UnitLayerStep(const StateOf<N>& with, int count, Memory& memory)
      : Base{with, count}, memory_(memory.memory(with, count)), team_scratch_(memory.team_scratch()) {}

  template <class Threads>
  void forward(const Threads& all, const Take& take) const {
    all([&](int thread) { pack(thread); });
    all([&](int thread) { items<Forward<0>>(take, thread, Forward<0>::items(take.count)); });
    all([&](int thread) { items<Forward<1>>(take, thread, Forward<1>::items(take.count)); });
    all([&](int thread) { items<Forward<2>>(take, thread, Forward<2>::items(take.count)); });
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
    all([&](int thread) { items<Inputs<2>>(take, thread, Inputs<2>::items(take.count)); });
    all([&](int thread) { items<Inputs<1>>(take, thread, Inputs<1>::items(take.count)); });
    all([&](int thread) { weights<0>(take, thread), weights<1>(take, thread), weights<2>(take, thread); });
    all([&](int thread) { add<0>(thread), add<1>(thread), add<2>(thread); });
  }

 private:
  template <int n>
  using Forward = typename Method::template Forward<n>;
  template <int n>
  using Inputs = typename Method::template Inputs<n>;
  template <int n>
  using Weights = typename Method::template Weights<n>;
  static constexpr std::size_t team_packs =
      static_cast<std::size_t>(std::max(
          {Forward<0>::scratch_bytes, Forward<1>::scratch_bytes, Forward<2>::scratch_bytes, Inputs<1>::scratch_bytes,
           Inputs<2>::scratch_bytes, Weights<0>::scratch_bytes, Weights<1>::scratch_bytes, Weights<2>::scratch_bytes,
           Dense::scratch_bytes, DenseBackward::scratch_bytes})) /
          sizeof(Four) +
      1;

  void pack(int thread) const {
    const Range mine = Base::part(N::fc1_weights, thread);
    for (auto at = static_cast<int>(mine.begin); at < mine.end; ++at) typename Method::Pack{Base::state, memory_}(at);
  }
  [[nodiscard]] float* of_team(int thread) const {
    return team_scratch_[static_cast<std::size_t>(thread) * team_packs].values;
  }
  template <class Kernel>
  void items(const Take& take, int thread, int all) const {
    const Range mine = Base::part(all, thread);
    for (auto item = static_cast<int>(mine.begin); item < mine.end; ++item)
      Kernel::run(blocks::one_thread, Base::state, memory_, take, item, of_team(thread));
  }
  template <int n>
  void weights(const Take& take, int thread) const {
    constexpr int blocks_of_inputs = Weights<n>::blocks_of_inputs;
    for (int share = 0; share < blocks_of_inputs; ++share)
      Weights<n>::run(blocks::one_thread, Base::state, memory_, take, blocks_of_inputs * thread + share,
                      blocks_of_inputs * Base::threads, of_team(thread));
  }
  // Adds the sums of all threads; a thread takes some.
  template <int n>
  void add(int thread) const {
    const Range mine = Base::part(Weights<n>::all, thread);
    for (auto at = static_cast<int>(mine.begin); at < mine.end; ++at) {
      float sum = 0;
      for (int team = 0; team < Base::threads; ++team)
        sum += memory_.partials[n][std::int64_t{team} * Weights<n>::all + at];
      Base::state.gradient[Weights<n>::parameter(at)] = sum;
    }
  }

  LayersMemory<N> memory_;
  Four* team_scratch_;
};

}  // namespace league::cnn
