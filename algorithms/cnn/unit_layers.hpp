// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/cnn/cnn.hpp"
#include "algorithms/cnn/unit_dense.hpp"
#include "algorithms/cnn/unit_layer_forward.hpp"
#include "algorithms/cnn/unit_layer_inputs.hpp"
#include "algorithms/cnn/unit_layer_weights.hpp"

/// The methods `tensor_*` of a network in layers.
namespace league::cnn {

/// The kernels of a method on matrix units.
template <class Unit, class N>
struct UnitLayers {
  using Net = N;
  template <int n>
  using Forward = UnitLayerForward<N, n, Unit>;
  template <int n>
  using Inputs = UnitLayerInputs<N, n, Unit>;
  template <int n>
  using Weights = UnitLayerWeights<N, n, Unit>;
  using Dense = UnitDense<Unit, N>;
  using DenseBackward = UnitDenseBackward<Unit, N>;
  using Pack = PackLayers<UnitLayers>;
  static constexpr const char* form =
      Unit::element == blocks::mma::Element::bf16 ? Cnn::bf16_convolutions : Cnn::tf32_convolutions;
  /// Sizes in floats: packed weights of convolution `n`; `values` of an output, which are in the unit's type.
  static constexpr int filters(int n) {
    const Convolution& of = N::network.convolutions[n];
    return of.outputs * (n == 0 ? 3 * blocks::mma::side : of.terms()) / Unit::per_word;
  }
  static constexpr int outputs(int values) { return values / Unit::per_word; }
  /// Weights of values that do not exist stay 0.
  template <int n>
  LEAGUE_FUNCTION static void store(const LayersMemory<N>& memory, float weight, int o, int c, int tap) {
    using Value = typename Unit::Value;
    const Value narrow = blocks::mma::Traits<Unit::element>::narrow(weight);
    reinterpret_cast<Value*>(memory.forward[n])[Forward<n>::Filters::at(o, c, tap)] = narrow;
    if constexpr (!Layer<N, n>::first)
      reinterpret_cast<Value*>(memory.backward[n])[Inputs<n>::Filters::at(c, o, taps - 1 - tap)] = narrow;
  }
};

}  // namespace league::cnn
