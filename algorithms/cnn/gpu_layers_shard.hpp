// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/cnn/gpu_layer_weights.hpp"
#include "algorithms/cnn/gpu_shard.hpp"

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

/// `Gpu`: the model's arrays, and a launcher of kernels.
template <class Gpu, class N>
class GpuLayersShard final : public CnnShard<Gpu::template Array, N> {
  using Base = CnnShard<Gpu::template Array, N>;
  using State = StateOf<N>;
  using Take = TakeOf<N>;
  using Pack = PackLayers<N>;
  template <class T>
  using Array = typename Gpu::template Array<T>;
  static constexpr int count = N::network.count;
  static_assert(count == 3);

 public:
  GpuLayersShard(const Cnn& problem, const Context& context, const Shard& shard)
      : Base(problem, context, shard),
        gpu_(Base::runtime(), Base::queue()),
        multiprocessors_(multiprocessors(*this)),
        slices_(DenseOf<N>::slices(some_images(), multiprocessors_)) {
    for (int n = 0; n < count; ++n) {
      const Convolution& of = N::network.convolutions[n];
      const std::string number = std::to_string(n + 1);
      Base::declare(forward_[n], "cnn/forward" + number, of.outputs * of.terms());
      Base::declare(backward_[n], "cnn/backward" + number, n == 0 ? 0 : of.outputs * of.terms());
      const std::int64_t values = n + 1 == count ? 0 : std::int64_t{some_images()} * of.values();
      Base::declare(a_[n], "cnn/a" + number, values);
      Base::declare_zeroed(d_a_[n], "cnn/d_a" + number, values);
    }
    Base::declare(products_, "cnn/products", std::int64_t{slices_} * some_images() * N::hidden);
    Base::declare(size_, "cnn/step_size", 1);
  }
  Launch configure(Launch launch) override {
    if (launch.team > 0 || launch.vector > 0 || launch.tile > 0)
      throw Unsupported("team, vector and tile: fixed by the kernels of this method");
    league_ = launch.league;
    declare_sets<0>();
    declare_sets<1>();
    declare_sets<2>();
    using First = LayerForward<N, 0>;
    return {of(First::items(some_images())), First::threads, 1, 0};
  }
  void begin() const override {
    gpu_.launcher().elements(threads, Begin<State>{Base::memory(), threads});
    gpu_.launcher().elements(Pack::end, Pack{Base::memory(), memory()});
  }
  void keep_start() const override { gpu_.launcher().elements(threads, KeepStart<State>{Base::memory(), threads}); }
  void keep_before() const override { gpu_.launcher().elements(threads, KeepBefore<State>{Base::memory(), threads}); }
  void differentiate(Stages& stages, int phase) const override {
    const State s = Base::memory();
    const Take each{.trains = true};  // the kernels read from the state which images
    const auto stage = [&](const char* name, const auto& body) { stages.stage(Base::queue(), name, body); };
    if (phase > 0) {
      stage("convolutions backward", [&] { convolve_back(s, each); });
      stage("sums of teams", [&] { items<AddSets<N>>(s, each, AddSets<N>::items); });
      return;
    }
    stage("convolutions", [&] { convolve(s, each, images()); });
    stage("dense", [&] { items<DenseOf<N>>(s, each, DenseOf<N>::items(images(), slices_)); });
    stage("loss", [&] { items<LossOf<N>>(s, each, images()); });
    stage("dense backward", [&] { items<DenseBackwardOf<N>>(s, each, DenseBackwardOf<N>::items(images())); });
  }
  void update_own(Queue& queue) const override {
    const Range own = Base::own_parameters();
    const Gpu gpu(Base::runtime(), queue);
    gpu.launcher().elements(static_cast<int>(own.size()),
                            UpdateOwn<State>{Base::memory(), static_cast<int>(own.begin)});
  }
  void update() const override {
    using Whole = Update<Pack, State, LayersMemory<N>>;
    using Rest = UpdateReplicated<Pack, State, LayersMemory<N>>;
    if (Base::is_sharded())
      gpu_.launcher().elements(Replicated<N>::all, Rest{Base::memory(), memory()});
    else
      gpu_.launcher().elements(Whole::threads, Whole{Base::memory(), memory()});
  }
  void evaluate() const override {
    const State s = Base::memory();
    for (std::int64_t begin = 0; begin < s.test_count;) {
      const Take take = s.tests(begin);
      convolve(s, take, take.count);
      items<DenseOf<N>>(s, take, DenseOf<N>::items(take.count, slices_));
      items<LossOf<N>>(s, take, take.count);
      begin += take.count;
    }
    items<CountRight>(s, s.tests(0), 1);
  }
  void end_epoch() const override { gpu_.launcher().elements(1, EndEpoch<State>{Base::memory()}); }

 private:
  static constexpr int threads = 1 << 16;  ///< threads that copy

  [[nodiscard]] int images() const { return static_cast<int>(Base::max_images()); }
  [[nodiscard]] int some_images() const { return std::max(images(), 1); }
  [[nodiscard]] int of(int items) const { return league_ > 0 ? std::min(league_, items) : items; }
  [[nodiscard]] LayersMemory<N> memory() const {
    LayersMemory<N> all{.products = products_.data(), .size = size_.data(), .slices = slices_};
    for (int n = 0; n < count; ++n) {
      all.forward[n] = forward_[n].data(), all.backward[n] = backward_[n].data();
      if (n + 1 < count) all.a[n] = a_[n].data(), all.d_a[n] = d_a_[n].data();
      all.partials[n] = partials_[n].data(), all.sets[n] = sets_[n];
    }
    return all;
  }
  template <int n>
  void declare_sets() {
    using Kernel = LayerWeights<N, n>;
    const int teams = league_ > 0 ? league_ : Kernel::min_teams * multiprocessors_;
    sets_[n] = std::clamp(Kernel::max_sets(images()), 1, std::max(teams / Kernel::blocks_of_inputs, 1));
    Base::declare(partials_[n], "cnn/partials" + std::to_string(n + 1), std::int64_t{sets_[n]} * Kernel::all);
  }
  void convolve(const State& s, const Take& take, int of_images) const {
    items<LayerForward<N, 0>>(s, take, LayerForward<N, 0>::items(of_images));
    items<LayerForward<N, 1>>(s, take, LayerForward<N, 1>::items(of_images));
    items<LayerForward<N, 2>>(s, take, LayerForward<N, 2>::items(of_images));
  }
  void convolve_back(const State& s, const Take& take) const {
    weights<2>(s);
    items<LayerBackward<N, 2>>(s, take, LayerBackward<N, 2>::items(images()));
    weights<1>(s);
    items<LayerBackward<N, 1>>(s, take, LayerBackward<N, 1>::items(images()));
    weights<0>(s);
  }
  template <int n>
  void weights(const State& s) const {
    using Kernel = LayerWeights<N, n>;
    gpu_.launcher().template teams<Kernel>(sets_[n] * Kernel::blocks_of_inputs, s, memory());
  }
  template <class Kernel>
  void items(const State& s, const Take& take, int all) const {
    if (all > 0) gpu_.launcher().template items<Kernel>(of(all), s, memory(), take, all);
  }

  Gpu gpu_;
  int multiprocessors_, slices_, league_ = 0, sets_[count] = {};
  Array<float> forward_[count], backward_[count], a_[count], d_a_[count], partials_[count], products_;
  Array<blocks::StepSize<float>> size_;
};

}  // namespace league::cnn
