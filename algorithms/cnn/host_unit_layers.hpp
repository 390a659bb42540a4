// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <vector>

#include "algorithms/cnn/host_unit_teams.hpp"
#include "algorithms/cnn/unit_layers.hpp"

/// The methods `tensor_*` of a network in layers on host threads: the work of GPU teams on a host's matrix unit, one
/// thread per team.
namespace league::cnn {

template <class N, class Method>
using UnitLayerTeams = UnitTeams<HostStepOf<N>, LayersMemory<N>, typename Method::Dense, typename Method::DenseBackward,
                                 typename Method::template Forward<0>, typename Method::template Forward<1>,
                                 typename Method::template Forward<2>, typename Method::template Inputs<1>,
                                 typename Method::template Inputs<2>, typename Method::template Weights<0>,
                                 typename Method::template Weights<1>, typename Method::template Weights<2>>;

template <class Unit, class N>
struct UnitLayerStep : UnitLayerTeams<N, UnitLayers<Unit, N>> {
  using Method = UnitLayers<Unit, N>;
  using Base = UnitLayerTeams<N, Method>;
  using typename Base::Take;
  static constexpr int convolutions = N::network.count;
  static_assert(convolutions == 3 && !N::network.drops);

  /// The threads' scratch, and the arrays of the kernels.
  class Memory {
   public:
    template <class MethodShard>
    void configure(MethodShard& shard, const StateOf<N>& state, int threads) {
      shard.take_form(Method::form);
      team_scratch_.resize(static_cast<std::size_t>(threads) * Base::team_packs);
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
      : Base({with, count}, memory.memory(with, count), memory.team_scratch()) {}

  template <class Threads>
  void forward(const Threads& all, const Take& take) const {
    all([&](int thread) { Base::template pack<typename Method::Pack>(N::fc1_weights, thread); });
    all([&](int thread) { convolve<Forward<0>>(take, thread); });
    all([&](int thread) { convolve<Forward<1>>(take, thread); });
    all([&](int thread) { convolve<Forward<2>>(take, thread); });
    Base::dense(all, take);
  }
  template <class Threads>
  void convolve_back(const Threads& all, const Take& take) const {
    all([&](int thread) { convolve<Inputs<2>>(take, thread); });
    all([&](int thread) { convolve<Inputs<1>>(take, thread); });
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

  template <class Kernel>
  void convolve(const Take& take, int thread) const {
    Base::template items<Kernel>(take, thread, Kernel::items(take.count));
  }
  template <int n>
  void weights(const Take& take, int thread) const {
    Base::template sums<Weights<n>>(take, thread, Weights<n>::blocks_of_inputs);
  }
  // Adds the sums of all threads; a thread takes some.
  template <int n>
  void add(int thread) const {
    const Range mine = Base::part(Weights<n>::all, thread);
    for (auto at = static_cast<int>(mine.begin); at < mine.end; ++at)
      Base::state.gradient[Weights<n>::parameter(at)] = Base::sum_of(Base::memory_.partials[n], Weights<n>::all, at);
  }
};

}  // namespace league::cnn
