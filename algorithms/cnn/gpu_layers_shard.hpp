// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/cnn/gpu_layer_weights.hpp"
#include "algorithms/cnn/gpu_training.hpp"

/// A network of three convolutions on one GPU: the sequence of kernels, and their league sizes.
namespace league::cnn {

/// Packs the weights of all convolutions for the kernels.
template <class N>
struct PackLayers {
  static constexpr int first = 0, end = N::fc1_weights;
  StateOf<N> s;
  LayersMemory<N> memory;
  LEAGUE_FUNCTION void operator()(int at) const { pack<0>(at); }

 private:
  template <int n>
  LEAGUE_FUNCTION void pack(int at) const {
    using L = Layer<N, n>;
    if constexpr (!L::last)
      if (at >= Layer<N, n + 1>::weights) return pack<n + 1>(at);
    if (at >= L::biases) return;
    const int k = at - L::weights, o = k / taps / L::inputs, c = k / taps % L::inputs, t = k % taps;
    const float weight = s.weights[at];
    memory.forward[n][(c * taps + t) * L::outputs + o] = weight;
    if constexpr (!L::first) memory.backward[n][(o * taps + taps - 1 - t) * L::inputs + c] = weight;
  }
};

/// The kernels without matrix units.
template <class N>
struct FloatLayers {
  using Net = N;
  template <int n>
  using Forward = LayerForward<N, n>;
  template <int n>
  using Inputs = LayerBackward<N, n>;
  template <int n>
  using Weights = LayerWeights<N, n>;
  using Dense = DenseOf<N>;
  using DenseBackward = DenseBackwardOf<N>;
  using Pack = PackLayers<N>;
  static constexpr const char* form = "";
  /// Sizes in floats: packed weights of convolution `n`; `values` of an output.
  static constexpr int filters(int n) {
    return N::network.convolutions[n].outputs * N::network.convolutions[n].terms();
  }
  static constexpr int outputs(int values) { return values; }
};

/// `Gpu`: the model's arrays, and a launcher of kernels. `Method`: the kernels.
template <class Gpu, class Method>
class GpuLayersShard final
    : public GpuTraining<Gpu, typename Method::Net, LayersMemory<typename Method::Net>, typename Method::Pack> {
  using N = typename Method::Net;
  using Base = GpuTraining<Gpu, N, LayersMemory<N>, typename Method::Pack>;
  using Dense = typename Method::Dense;
  using DenseBackward = typename Method::DenseBackward;
  using Base::images, Base::some_images;
  using typename Base::State, typename Base::Take;
  static constexpr int count = N::network.count;
  static_assert(count == 3);

 public:
  GpuLayersShard(const Cnn& problem, const Context& context, const Shard& shard)
      : Base(problem, context, shard), slices_(Dense::slices(some_images(), Base::multiprocessors())) {
    for (int n = 0; n < count; ++n) {
      const Convolution& of = N::network.convolutions[n];
      const std::string number = std::to_string(n + 1);
      Base::declare_zeroed(forward_[n], "cnn/forward" + number, Method::filters(n));
      Base::declare(backward_[n], "cnn/backward" + number, n == 0 ? 0 : Method::filters(n));
      const std::int64_t stored = n + 1 == count ? 0 : some_images();
      Base::declare(a_[n], "cnn/a" + number, stored * Method::outputs(of.values()));
      Base::declare_zeroed(d_a_[n], "cnn/d_a" + number, stored * of.values());
    }
    Base::take_form(Method::form);
    Base::declare(products_, "cnn/products", std::int64_t{slices_} * some_images() * N::hidden);
  }
  Launch configure(Launch launch) override {
    Base::limit_league(launch);
    declare_sets<0>();
    declare_sets<1>();
    declare_sets<2>();
    using First = typename Method::template Forward<0>;
    return {Base::league_size(First::items(some_images())), First::threads, 1, 0};
  }
  void differentiate(Stages& stages, int phase) const override {
    const State s = Base::memory();
    const Take each{.trains = true};  // the kernels read from the state which images
    const auto stage = [&](const char* name, const auto& body) { stages.stage(Base::queue(), name, body); };
    if (phase > 0) {
      stage("convolutions backward", [&] { convolve_back(s, each); });
      stage("sums of teams", [&] { items<AddSets<Method>>(s, each, AddSets<Method>::items); });
      return;
    }
    stage("convolutions", [&] { convolve(s, each, images()); });
    stage("dense", [&] { items<Dense>(s, each, Dense::items(images(), slices_)); });
    stage("loss", [&] { items<LossOf<N>>(s, each, images()); });
    stage("dense backward", [&] { items<DenseBackward>(s, each, DenseBackward::items(images())); });
  }

 private:
  [[nodiscard]] LayersMemory<N> kernel_memory() const override {
    LayersMemory<N> all{.products = products_.data(), .size = Base::step_size(), .slices = slices_};
    for (int n = 0; n < count; ++n) {
      all.forward[n] = forward_[n].data(), all.backward[n] = backward_[n].data();
      if (n + 1 < count) all.a[n] = a_[n].data(), all.d_a[n] = d_a_[n].data();
      all.partials[n] = partials_[n].data(), all.sets[n] = sets_[n];
    }
    return all;
  }
  void classify(const State& s, const Take& take) const override {
    convolve(s, take, take.count);
    items<Dense>(s, take, Dense::items(take.count, slices_));
    items<LossOf<N>>(s, take, take.count);
  }
  template <int n>
  void declare_sets() {
    using Kernel = typename Method::template Weights<n>;
    sets_[n] = std::clamp(Kernel::max_sets(images()), 1,
                          std::max(Base::teams(Kernel::min_teams) / Kernel::blocks_of_inputs, 1));
    Base::declare(partials_[n], "cnn/partials" + std::to_string(n + 1), std::int64_t{sets_[n]} * Kernel::all);
  }
  template <int n>
  void forward(const State& s, const Take& take, int of_images) const {
    using Kernel = typename Method::template Forward<n>;
    items<Kernel>(s, take, Kernel::items(of_images));
  }
  void convolve(const State& s, const Take& take, int of_images) const {
    forward<0>(s, take, of_images);
    forward<1>(s, take, of_images);
    forward<2>(s, take, of_images);
  }
  void convolve_back(const State& s, const Take& take) const {
    weights<2>(s);
    inputs<2>(s, take);
    weights<1>(s);
    inputs<1>(s, take);
    weights<0>(s);
  }
  template <int n>
  void inputs(const State& s, const Take& take) const {
    using Kernel = typename Method::template Inputs<n>;
    items<Kernel>(s, take, Kernel::items(images()));
  }
  template <int n>
  void weights(const State& s) const {
    using Kernel = typename Method::template Weights<n>;
    Base::launcher().template teams<Kernel>(sets_[n] * Kernel::blocks_of_inputs, s, kernel_memory());
  }
  template <class Kernel>
  void items(const State& s, const Take& take, int all) const {
    Base::template items<Kernel>(s, take, all);
  }

  int slices_, sets_[count] = {};
  typename Gpu::template Array<float> forward_[count], backward_[count], a_[count], d_a_[count], partials_[count],
      products_;
};

}  // namespace league::cnn
