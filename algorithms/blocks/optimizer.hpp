// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstdint>

#include "backends/portable.hpp"

/// Parameter updates of training: the same functions in every model's update kernel, and in double in the check.
namespace league::blocks {

/// - sgd: w -= rate g. No state.
/// - adadelta (Zeiler, ADADELTA, 2012): mean squares s of gradients and d of changes, both decaying by rho = 0.9;
///   change = g sqrt(d + eps) / sqrt(s + eps), eps = 1e-6; w -= rate change. State: s, d.
/// - adam (Kingma, Ba, Adam, 2015): means m of gradients (0.9) and v of their squares (0.999), bias-corrected (m', v');
///   w -= rate m' / (sqrt(v') + eps), eps = 1e-8 unless given. State: m, v.
enum class Optimizer : std::int8_t { sgd, adadelta, adam };

/// Values of state that a parameter has.
LEAGUE_FUNCTION constexpr int states_of(Optimizer optimizer) { return optimizer == Optimizer::sgd ? 0 : 2; }

/// A parameter and its state.
template <class T>
struct Weight {
  T value, first, second;
};

/// Of Adam's two means, and what each leaves for the new value: 1 - decay is not computed in T, to avoid cancellation.
template <class T>
struct Decays {
  T first = T(0.9), first_rest = T(0.1), second = T(0.999), second_rest = T(0.001);
};
/// Rounded to f32, as PyTorch's fused kernel takes them; the bias corrections depend on them.
inline constexpr Decays<double> f32_decays{0.9F, 1 - 0.9F, 0.999F, 1 - 0.999F};

/// Values shared by all parameters of a step. `step` counts from 1.
template <class T>
struct StepSize {
  T rate;                       ///< the learning rate of the step's epoch
  T first_scale, second_scale;  ///< adam: 1 / (1 - decay^step), of each mean
};
template <class T>
LEAGUE_FUNCTION StepSize<T> step_size(Optimizer optimizer, T rate, std::int64_t step,
                                      const Decays<double>& decays = {}) {
  if (optimizer != Optimizer::adam) return {rate, T{1}, T{1}};
  // In double: in float, 1 - 0.999 loses four digits to cancellation.
  const auto one_less = [&](double decay) {
    return static_cast<T>(1 / (1 - std::pow(decay, static_cast<double>(step))));
  };
  return {rate, one_less(decays.first), one_less(decays.second)};
}

/// The parameter after a step, from its gradient. Multiply-adds are explicit: where the compiler chose them, kernels
/// that take this update would differ in last bits.
template <class T>
LEAGUE_FUNCTION Weight<T> advanced(Optimizer optimizer, Weight<T> weight, T gradient, const StepSize<T>& size,
                                   T adam_epsilon = T(1e-8), const Decays<T>& decays = {}) {
  if (optimizer == Optimizer::sgd) {
    weight.value = std::fma(-size.rate, gradient, weight.value);
  } else if (optimizer == Optimizer::adadelta) {
    const T rho = T(0.9), rest = T(0.1), eps = T(1e-6);  // not 1 - rho: cancellation
    weight.first = std::fma(rho, weight.first, rest * gradient * gradient);
    const T change = std::sqrt(weight.second + eps) / std::sqrt(weight.first + eps) * gradient;
    weight.second = std::fma(rho, weight.second, rest * change * change);
    weight.value = std::fma(-size.rate, change, weight.value);
  } else {
    weight.first = std::fma(decays.first, weight.first, decays.first_rest * gradient);
    weight.second = std::fma(decays.second, weight.second, decays.second_rest * gradient * gradient);
    weight.value -=
        size.rate * (weight.first * size.first_scale) / (std::sqrt(weight.second * size.second_scale) + adam_epsilon);
  }
  return weight;
}

}  // namespace league::blocks
