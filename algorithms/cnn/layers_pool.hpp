// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <utility>

#include "algorithms/cnn/layers.hpp"

/// The kernels around convolutions, and the planes that these take. `Activate` and `Route`: of a network whose
/// convolutions all decide and that has no dropout; see layers.hpp.
namespace league::cnn::layers {

/// Inputs of convolution `n`.
template <int n, class N, class T>
LEAGUE_FUNCTION T* inputs_of(const PlanesOf<N, T>& m) {
  if constexpr (n == 0)
    return m.x;
  else
    return m.a[n - 1];
}

/// Its sums: where it decides, until `Around::Forward` has taken them.
template <int n, class N, class T>
T* output_of(const PlanesOf<N, T>& m) {
  if constexpr (Layer<N, n>::of.decides)
    return m.z[n];
  else
    return m.a[n];
}
/// The gradient of its sums.
template <int n, class N, class T>
T* gradient_of(const PlanesOf<N, T>& m) {
  if constexpr (Layer<N, n>::of.decides)
    return m.z[n];
  else
    return m.d_a[n];
}

/// Bias, max-pool and ReLU. One window.
template <class N, int n, class T>
struct Activate {
  using L = Layer<N, n>;
  static constexpr int per_image = L::values;
  PlanesOf<N, T> m;
  LEAGUE_FUNCTION void operator()(int i, int at) const {
    const TakeOf<N>& take = m.take();
    const int o = at / L::windows, window = at % L::windows;
    const T* z = m.z[n] + m.layout.template at<L::outputs, L::to_plane>(i, o) +
                 window / L::window_side * L::step * L::to_side + window % L::window_side * L::step;
    int place = 0;
    float largest = z[0];
    for (int other = 1; other < L::step * L::step; ++other) {
      const float next = z[other / 2 * L::to_side + other % 2];
      if (next > largest) largest = next, place = other;
    }
    const float value = largest + m.s.weights[L::biases + o];
    store(i, o, window, value > 0 ? value : 0);
    if (take.trains)
      m.s.pool_decisions[std::int64_t{i} * N::decisions + L::decisions + at] = Decision::of(place, value > 0);
  }

 private:
  LEAGUE_FUNCTION void store(int i, int o, int window, float value) const {
    if constexpr (L::last)
      m.s.p[std::int64_t{i} * N::flat + o * L::windows + window] = value;
    else
      m.a[n][m.layout.template at<L::outputs, L::windows>(i, o) + window] = value;
  }
};

/// Backward pass of `Activate`: overwrites the convolution's output with its gradient. One position.
template <class N, int n, class T>
struct Route {
  using L = Layer<N, n>;
  static constexpr int per_image = L::outputs * L::to_plane;
  PlanesOf<N, T> m;
  LEAGUE_FUNCTION void operator()(int i, int at) const {
    const int o = at / L::to_plane, position = at % L::to_plane;
    const int y = position / L::to_side, x = position % L::to_side;
    float value = 0;
    if (i < m.take().count && y < L::live_side && x < L::live_side) {
      const int window = y / L::step * L::window_side + x / L::step, place = y % L::step * 2 + x % L::step;
      const std::uint8_t decision =
          m.s.pool_decisions[std::int64_t{i} * N::decisions + L::decisions + o * L::windows + window];
      if (decision == Decision::of(place, true)) value = gradient(i, o, window);
    }
    m.z[n][m.layout.template at<L::outputs, L::to_plane>(i, o) + position] = value;
  }

 private:
  [[nodiscard]] LEAGUE_FUNCTION float gradient(int i, int o, int window) const {
    if constexpr (L::last)
      return m.s.d_p[std::int64_t{i} * N::flat + o * L::windows + window];
    else
      return m.d_a[n][m.layout.template at<L::outputs, L::windows>(i, o) + window];
  }
};

/// Kernels around convolution `n`: after its sums, and before its backward pass.
template <class N, int n, class T = float>
struct Around {
  using Forward = Activate<N, n, T>;
  using Backward = Route<N, n, T>;
};
template <class T>
struct Around<Mnist, 0, T> {
  using Forward = BiasReLU<T>;
  using Backward = MaskInput<T>;
};
template <class T>
struct Around<Mnist, 1, T> {
  using Forward = Pool<T>;
  using Backward = Unpool<T>;
};

/// Calls `body.operator()<n>()` for each convolution, in order.
template <class N, class Body>
constexpr void forwards(const Body& body) {
  [&]<int... n>(std::integer_sequence<int, n...>) {
    (body.template operator()<n>(), ...);
  }(std::make_integer_sequence<int, N::network.count>());
}
template <class N, class Body>
constexpr void backwards(const Body& body) {
  forwards<N>([&]<int n>() { body.template operator()<N::network.count - 1 - n>(); });
}

}  // namespace league::cnn::layers
