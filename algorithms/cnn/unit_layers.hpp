// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/cnn/cnn.hpp"
#include "algorithms/cnn/unit_dense.hpp"
#include "algorithms/cnn/unit_layer_forward.hpp"
#include "algorithms/cnn/unit_layer_inputs.hpp"
#include "algorithms/cnn/unit_layer_weights.hpp"

/// The methods `tensor_*` of a network in layers.
namespace league::cnn {

/// Packs the weights of all convolutions. Weights of values that do not exist stay 0.
template <class Unit, class N>
struct PackUnitLayers {
  static constexpr int first = 0, end = N::fc1_weights;
  StateOf<N> s;
  LayersMemory<N> memory;
  LEAGUE_FUNCTION void operator()(int at) const { pack<0>(at); }

 private:
  template <int n>
  LEAGUE_FUNCTION void pack(int at) const {
    using L = Layer<N, n>;
    using Value = typename Unit::Value;
    if constexpr (!L::last)
      if (at >= Layer<N, n + 1>::weights) return pack<n + 1>(at);
    if (at >= L::biases) return;
    const int k = at - L::weights, o = k / taps / L::inputs, c = k / taps % L::inputs, tap = k % taps;
    const Value weight = blocks::mma::Traits<Unit::element>::narrow(s.weights[at]);
    reinterpret_cast<Value*>(memory.forward[n])[UnitLayerForward<N, n, Unit>::Filters::at(o, c, tap)] = weight;
    if constexpr (!L::first)
      reinterpret_cast<Value*>(memory.backward[n])[UnitLayerInputs<N, n, Unit>::Filters::at(c, o, taps - 1 - tap)] =
          weight;
  }
};

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
  using Pack = PackUnitLayers<Unit, N>;
  static constexpr const char* form =
      Unit::element == blocks::mma::Element::bf16 ? Cnn::bf16_convolutions : Cnn::tf32_convolutions;
  /// Sizes in floats: packed weights of convolution `n`; `values` of an output, which are in the unit's type.
  static constexpr int filters(int n) {
    const Convolution& of = N::network.convolutions[n];
    return of.outputs * (n == 0 ? 3 * blocks::mma::side : of.terms()) / Unit::per_word;
  }
  static constexpr int outputs(int values) { return values / Unit::per_word; }
};

}  // namespace league::cnn
