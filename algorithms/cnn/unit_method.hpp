// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/cnn/gpu_shard.hpp"
#include "algorithms/cnn/unit_dense.hpp"
#include "algorithms/cnn/unit_forward.hpp"
#include "algorithms/cnn/unit_inputs.hpp"
#include "algorithms/cnn/unit_weights.hpp"

/// The methods `tensor_*`, on GPUs.
namespace league::cnn {

/// The convolutions' backward pass on matrix units, over all positions.
template <class Unit>
struct UnitBackward {
  using Weights = UnitWeights<Unit>;
  using Inputs = UnitInputs<Unit>;
  static constexpr bool rounds = true;
  static constexpr int teams_per_multiprocessor = 2;
  static int items(int images) { return Inputs::items(images); }
  template <class Launcher>
  static void run(const Launcher& launcher, const State& s, const GpuMemory& memory) {
    launcher.template teams<Weights>(Weights::shares * memory.teams, s, memory);
    launcher.template teams<Inputs>(memory.teams, s, memory);
  }
  LEAGUE_FUNCTION static void pack(const GpuMemory& memory, int o, int c, int tap, float weight) {
    reinterpret_cast<typename Unit::Value*>(memory.backward2)[BackFilters<Unit>::at(o, c, tap)] =
        blocks::mma::Traits<Unit::element>::narrow(weight);
  }
};

/// Packs the second convolution's weights.
template <class Unit, class Backward>
struct PackFilters {
  static constexpr int first = conv2_weights, end = conv2_biases;
  State s;
  GpuMemory memory;
  LEAGUE_FUNCTION void operator()(int at) const {
    const int o = at / taps / channels1, c = at / taps % channels1, t = at % taps;
    const float weight = s.weights[conv2_weights + at];
    reinterpret_cast<typename Unit::Value*>(memory.forward2)[Filters<Unit>::at(o, c, t)] =
        blocks::mma::Traits<Unit::element>::narrow(weight);
    Backward::pack(memory, o, c, t, weight);
  }
};

/// The kernels of a method on matrix units.
template <class Unit, class Backward_>
struct UnitMethod {
  using Forward = UnitForward<Unit>;
  using Dense = UnitDense<Unit, Mnist>;
  using DenseBackward = UnitDenseBackward<Unit, Mnist>;
  using Backward = Backward_;
  using Pack = PackFilters<Unit, Backward>;
  static constexpr const char* form = form_of<Unit>(Backward::rounds);
};

}  // namespace league::cnn
