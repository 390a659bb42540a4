// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/cnn/gpu_part.hpp"
#include "algorithms/cnn/unit_dense.hpp"
#include "algorithms/cnn/unit_forward.hpp"

/// The methods `tensor_*`, on GPUs.
namespace league::cnn {

/// Packs the second convolution's weights: forward for the unit, backward as `PackWeights`.
template <class Unit>
struct PackFilters {
  State s;
  GpuMemory memory;
  LEAGUE_FUNCTION void operator()(int at) const {
    const int o = at / taps / channels1, c = at / taps % channels1, t = at % taps;
    const float weight = s.weights[conv2_weights + at];
    reinterpret_cast<typename Unit::Value*>(memory.forward2)[Filters<Unit>::at(o, c, t)] =
        blocks::mma::Traits<Unit::element>::narrow(weight);
    if (memory.backward2 != nullptr) memory.backward2[(o * taps + t) * channels1 + c] = weight;
  }
};

/// The kernels of a method on matrix units.
template <class Unit, class Backward_>
struct UnitMethod {
  using Forward = UnitForward<Unit>;
  using Dense = UnitDense<Unit>;
  using DenseBackward = UnitDenseBackward<Unit>;
  using Backward = Backward_;
  using Pack = PackFilters<Unit>;
  static constexpr const char* form = form_of<Unit>();
};

}  // namespace league::cnn
