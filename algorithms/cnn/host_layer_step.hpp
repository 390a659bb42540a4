// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <tuple>
#include <vector>

#include "algorithms/cnn/host_layers.hpp"
#include "algorithms/cnn/host_step.hpp"

/// A network of three convolutions on host threads, in loops of our own.
namespace league::cnn {

template <class N>
struct LayerStep : HostStepOf<N> {
  using Base = HostStepOf<N>;
  using typename Base::Take;
  template <int n>
  using L = Layer<N, n>;
  static_assert(N::network.count == 3 && !N::network.drops);

  /// A thread's, for one image.
  struct Scratch {
    float x[N::pixels + lanes];  ///< read beyond the end, by a vector
    std::tuple<HostLayer<L<0>>, HostLayer<L<1>>, HostLayer<L<2>>> layers;
    float p[N::flat];  ///< [window][output]
  };
  /// The threads' scratch, and the planes between the convolutions.
  class Memory {
   public:
    template <class MethodShard>
    void configure(MethodShard& /*shard*/, const StateOf<N>& state, int threads) {
      scratch_.resize(static_cast<std::size_t>(threads));
      planes_.resize(static_cast<std::size_t>(std::max<std::int64_t>(state.own_count, 1) * planes));
    }
    [[nodiscard]] Scratch* scratch() { return scratch_.data(); }
    [[nodiscard]] float* image_planes() { return planes_.data(); }

   private:
    std::vector<Scratch> scratch_;
    std::vector<float> planes_;
  };
  LayerStep(const StateOf<N>& with, int count, Memory& memory)
      : Base{with, count}, scratch_(memory.scratch()), planes_(memory.image_planes()) {}

  template <class Threads>
  void forward(const Threads& all, const Take& take) const {
    all([&](int thread) { convolve(take, thread); });
    all([&](int thread) { Base::multiply(take, thread); });
    all([&](int thread) { Base::judge(take, thread); });
  }
  template <class Threads>
  void dense_back(const Threads& all, const Take& take) const {
    all([&](int thread) { Base::differentiate_dense(take, thread); });
  }
  template <class Threads>
  void convolve_back(const Threads& all, const Take& take) const {
    all([&](int thread) { differentiate_convolutions(take, thread); });
    all([&](int thread) {
      add_layer<0>(thread);
      add_layer<1>(thread);
      add_layer<2>(thread);
    });
  }

 private:
  static constexpr int planes = L<0>::values + L<1>::values;  ///< of an image, [window][output] each

  // A thread takes some images.
  void convolve(const Take& take, int thread) const {
    Scratch& mine = scratch_[thread];
    const Range images = Base::part(take.count, thread);
    if (images.size() > 0)
      std::apply([&](auto&... layer) { (layer.pack_forward(Base::state.weights), ...); }, mine.layers);
    for (std::int64_t i = images.begin; i < images.end; ++i) {
      take_pixels(take, i, mine);
      float* a = planes_ + i * planes;
      convolve_layer<0>(take, i, mine, mine.x, a);
      convolve_layer<1>(take, i, mine, a, a + L<0>::values);
      convolve_layer<2>(take, i, mine, a + L<0>::values, mine.p);
      for (int k = 0; k < N::flat; ++k)
        Base::state.p[i * N::flat + k] = mine.p[k % L<2>::windows * L<2>::outputs + k / L<2>::windows];
    }
  }
  static void take_pixels(const Take& take, std::int64_t i, Scratch& mine) {
    const std::uint8_t* image = take.image(static_cast<int>(i));
    for (int c = 0; c < L<0>::inputs; ++c)
      for (int at = 0; at < L<0>::plane; ++at) mine.x[at * L<0>::inputs + c] = N::pixel(image[c * L<0>::plane + at]);
  }
  template <int n>
  void convolve_layer(const Take& take, std::int64_t i, Scratch& mine, const float* from, float* to) const {
    auto& layer = std::get<n>(mine.layers);
    layer.convolve(from, Base::state.weights + L<n>::biases, to);
    if (!take.trains) return;
    std::uint8_t* decisions = Base::state.pool_decisions + i * N::decisions + L<n>::decisions;
    for (int k = 0; k < L<n>::values; ++k)
      decisions[k] = static_cast<std::uint8_t>(layer.decisions[k % L<n>::windows * L<n>::outputs + k / L<n>::windows]);
  }
  // A thread takes some images, with its own sums.
  void differentiate_convolutions(const Take& take, int thread) const {
    Scratch& mine = scratch_[thread];
    std::apply([&](auto&... layer) { (layer.pack_backward(Base::state.weights), ...); }, mine.layers);
    auto& [first, second, third] = mine.layers;
    const Range images = Base::part(take.count, thread);
    for (std::int64_t i = images.begin; i < images.end; ++i) {
      const std::uint8_t* decisions = Base::state.pool_decisions + i * N::decisions;
      const float *a = planes_ + i * planes, *d_p = Base::state.d_p + i * N::flat;
      take_pixels(take, i, mine);
      third.differentiate(a + L<0>::values, decisions + L<2>::decisions,
                          [&](int window, int o) { return d_p[o * L<2>::windows + window]; });
      second.differentiate(a, decisions + L<1>::decisions,
                           [&](int window, int o) { return third.d_a[window * L<1>::outputs + o]; });
      first.differentiate(mine.x, decisions + L<0>::decisions,
                          [&](int window, int o) { return second.d_a[window * L<0>::outputs + o]; });
    }
  }
  // Adds the sums of all threads; a thread takes some output channels.
  template <int n>
  void add_layer(int thread) const {
    using Own = HostLayer<L<n>>;
    const auto sum = [&](const auto& value) {
      float all = 0;
      for (int of = 0; of < Base::threads; ++of) all += value(std::get<n>(scratch_[of].layers));
      return all;
    };
    const Range outputs = Base::part(L<n>::outputs, thread);
    for (auto o = static_cast<int>(outputs.begin); o < outputs.end; ++o) {
      for (int c = 0; c < L<n>::inputs; ++c)
        for (int t = 0; t < taps; ++t)
          Base::state.gradient[L<n>::weights + (o * L<n>::inputs + c) * taps + t] = sum([&](const Own& of) {
            return of.gradient[(t / 3 * L<n>::outputs + o) * Own::pitch + t % 3 * L<n>::inputs + c];
          });
      Base::state.gradient[L<n>::biases + o] = sum([&](const Own& of) { return of.bias_gradient[o]; });
    }
  }

  Scratch* scratch_;  ///< [threads]
  float* planes_;     ///< [images][planes]
};

}  // namespace league::cnn
