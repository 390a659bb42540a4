// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>

#include "algorithms/cnn/direct_backward.hpp"
#include "algorithms/cnn/gpu_training.hpp"
#include "algorithms/cnn/routed_backward.hpp"

/// A shard on one GPU: the sequence of kernels, and their league sizes.
namespace league::cnn {

/// Packs the second convolution's weights for the kernels.
struct PackWeights {
  static constexpr int first = conv2_weights, end = conv2_biases;
  State s;
  GpuMemory memory;
  LEAGUE_FUNCTION void operator()(int at) const {
    const int o = at / taps / channels1, c = at / taps % channels1, t = at % taps;
    const float weight = s.weights[conv2_weights + at];
    memory.forward2[(c * taps + t) * channels2 + o] = weight;
    memory.backward2[(o * taps + t) * channels1 + c] = weight;
  }
};
/// The kernels of the convolutions' backward pass, for each method.
struct DirectBackward {
  static constexpr int teams_per_multiprocessor = Conv2Gradient::min_teams;
  static int items(int images) { return Conv2Gradient::halves * images; }
  template <class Launcher>
  static void run(const Launcher& launcher, const State& s, const GpuMemory& memory) {
    launcher.template teams<Conv2Gradient>(memory.teams, s, memory);
    launcher.template teams<Conv1Gradient>(memory.teams, s, memory);
  }
};
struct RoutedBackward {
  static constexpr bool rounds = false;  ///< to the type of a matrix unit
  static constexpr int teams_per_multiprocessor = RoutedGradient::min_teams;
  static int items(int images) { return RoutedGradient::items(images); }
  template <class Launcher>
  static void run(const Launcher& launcher, const State& s, const GpuMemory& memory) {
    launcher.template teams<RoutedGradient>(memory.teams, s, memory);
  }
  LEAGUE_FUNCTION static void pack(const GpuMemory& memory, int o, int c, int tap, float weight) {
    memory.backward2[(o * taps + tap) * channels1 + c] = weight;
  }
};

/// The kernels of the methods without matrix units; `Backward_`: of the convolutions' backward pass.
template <class Backward_>
struct FloatMethod {
  using Forward = cnn::Forward;
  using Dense = cnn::Dense;
  using DenseBackward = cnn::DenseBackward;
  using Backward = Backward_;
  using Pack = PackWeights;
  static constexpr const char* form = "";
};

/// `Gpu`: the model's arrays, and a launcher of kernels. `Method`: the kernels.
template <class Gpu, class Method>
class GpuShard final : public GpuTraining<Gpu, Mnist, GpuMemory, typename Method::Pack> {
  using Base = GpuTraining<Gpu, Mnist, GpuMemory, typename Method::Pack>;
  using Forward = typename Method::Forward;
  using Dense = typename Method::Dense;
  using DenseBackward = typename Method::DenseBackward;
  using Backward = typename Method::Backward;
  using Base::images, Base::some_images;

 public:
  GpuShard(const Cnn& problem, const Context& context, const Shard& shard)
      : Base(problem, context, shard), slices_(Dense::slices(some_images(), Base::multiprocessors())) {
    Base::declare(forward2_, "cnn/forward2", channels1 * taps * channels2);
    Base::declare(backward2_, "cnn/backward2", channels1 * taps * channels2);
    Base::declare(products_, "cnn/products", std::int64_t{slices_} * some_images() * hidden);
    Base::take_form(Method::form);
  }
  Launch configure(Launch launch) override {
    Base::limit_league(launch);
    teams_ = std::clamp(Backward::items(images()), 1, Base::teams(Backward::teams_per_multiprocessor));
    Base::declare(partials_, "cnn/partials", std::int64_t{teams_} * fc1_weights);
    return {Base::league_size(Forward::items(some_images())), Forward::threads, 1, 0};
  }
  void differentiate(Stages& stages, int phase) const override {
    const State s = Base::memory();
    const Take each{.trains = true};  // the kernels read from the state which images
    const auto stage = [&](const char* name, const auto& body) { stages.stage(Base::queue(), name, body); };
    if (phase > 0) {
      stage("convolutions backward", [&] { Backward::run(Base::launcher(), s, kernel_memory()); });
      stage("sums of teams", [&] { items<AddPartials>(s, each, AddPartials::items); });
      return;
    }
    stage("convolutions", [&] { items<Forward>(s, each, Forward::items(images())); });
    stage("dense", [&] { items<Dense>(s, each, Dense::items(images(), slices_)); });
    stage("loss", [&] { items<Loss>(s, each, images()); });
    stage("dense backward", [&] { items<DenseBackward>(s, each, DenseBackward::items(images())); });
  }

 private:
  [[nodiscard]] GpuMemory kernel_memory() const override {
    return {
        forward2_.data(), backward2_.data(), products_.data(), partials_.data(), Base::step_size(), slices_, teams_};
  }
  void classify(const State& s, const Take& take) const override {
    items<Forward>(s, take, Forward::items(take.count));
    items<Dense>(s, take, Dense::items(take.count, slices_));
    items<Loss>(s, take, take.count);
  }
  template <class Kernel>
  void items(const State& s, const Take& take, int count) const {
    Base::template items<Kernel>(s, take, count);
  }

  int slices_, teams_ = 1;
  typename Gpu::template Array<float> forward2_, backward2_, products_, partials_;
};

}  // namespace league::cnn
