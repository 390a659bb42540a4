// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>

#include "algorithms/cnn/dense.hpp"
#include "algorithms/cnn/direct_backward.hpp"
#include "algorithms/cnn/routed_backward.hpp"
#include "algorithms/cnn/shard.hpp"
#include "backends/launch.hpp"

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
/// Updates four parameters; all their loads are in flight together. `Pack`: packs the weights from `first` to `end`.
template <class Pack, class S = State, class Memory = GpuMemory>
struct Update {
  static constexpr int all = S::Net::parameters, together = 4, threads = (all + together - 1) / together;
  S s;
  Memory memory;
  LEAGUE_FUNCTION void operator()(int first) const {
    const blocks::StepSize<float> size = *memory.size;
    blocks::Weight<float> weights[together];
    float gradients[together];
    blocks::unrolled<together>([&](int n) {
      const int at = first + n * threads;
      if (at < all) weights[n] = s.weight(at), gradients[n] = s.gradient[at];
    });
    blocks::unrolled<together>([&](int n) {
      const int at = first + n * threads;
      if (at >= all) return;
      s.store(at, blocks::advanced(s.optimizer, weights[n], gradients[n], size, S::Net::adam_epsilon));
      if (at >= Pack::first && at < Pack::end) Pack{s, memory}(at - Pack::first);
    });
    if (first == 0) s.end_step();
  }
};

/// Updates a parameter where the optimizer is sharded.
template <class Pack, class S = State, class Memory = GpuMemory>
struct UpdateReplicated {
  using All = Replicated<typename S::Net>;
  S s;
  Memory memory;
  LEAGUE_FUNCTION void operator()(int at) const {
    const int i = All::parameter(at);
    s.update(i, *memory.size);
    if (i >= Pack::first && i < Pack::end) Pack{s, memory}(i - Pack::first);
    if (at == 0) s.end_step();
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
class GpuShard final : public CnnShard<Gpu::template Array> {
  using Base = CnnShard<Gpu::template Array>;
  template <class T>
  using Array = typename Gpu::template Array<T>;
  using Forward = typename Method::Forward;
  using Dense = typename Method::Dense;
  using DenseBackward = typename Method::DenseBackward;
  using Backward = typename Method::Backward;
  using Pack = typename Method::Pack;

 public:
  GpuShard(const Cnn& problem, const Context& context, const Shard& shard)
      : Base(problem, context, shard),
        gpu_(Base::runtime(), Base::queue()),
        multiprocessors_(multiprocessors(*this)),
        slices_(Dense::slices(std::max(images(), 1), multiprocessors_)) {
    Base::declare(forward2_, "cnn/forward2", channels1 * taps * channels2);
    Base::declare(backward2_, "cnn/backward2", channels1 * taps * channels2);
    Base::declare(products_, "cnn/products", slices_ * std::max<std::int64_t>(images(), 1) * hidden);
    Base::declare(size_, "cnn/step_size", 1);
    Base::take_form(Method::form);
  }
  Launch configure(Launch launch) override {
    if (launch.team > 0 || launch.vector > 0 || launch.tile > 0)
      throw Unsupported("team, vector and tile: fixed by the kernels of this method");
    league_ = launch.league;
    teams_ = std::clamp(Backward::items(images()), 1,
                        league_ > 0 ? league_ : Backward::teams_per_multiprocessor * multiprocessors_);
    Base::declare(partials_, "cnn/partials", std::int64_t{teams_} * fc1_weights);
    return {of(Forward::items(std::max(images(), 1))), Forward::threads, 1, 0};
  }
  void begin() const override {
    gpu_.launcher().elements(threads, Begin<State>{Base::memory(), threads});
    gpu_.launcher().elements(channels2 * channels1 * taps, Pack{Base::memory(), memory()});
  }
  void keep_start() const override { gpu_.launcher().elements(threads, KeepStart<State>{Base::memory(), threads}); }
  void keep_before() const override { gpu_.launcher().elements(threads, KeepBefore<State>{Base::memory(), threads}); }
  void differentiate(Stages& stages, int phase) const override {
    const State s = Base::memory();
    const Take each{.trains = true};  // the kernels read from the state which images
    const auto stage = [&](const char* name, const auto& body) { stages.stage(Base::queue(), name, body); };
    if (phase > 0) {
      stage("convolutions backward", [&] { Backward::run(gpu_.launcher(), s, memory()); });
      stage("sums of teams", [&] { items<AddPartials>(s, each, AddPartials::items); });
      return;
    }
    stage("convolutions", [&] { items<Forward>(s, each, Forward::items(images())); });
    stage("dense", [&] { items<Dense>(s, each, Dense::items(images(), slices_)); });
    stage("loss", [&] { items<Loss>(s, each, images()); });
    stage("dense backward", [&] { items<DenseBackward>(s, each, DenseBackward::items(images())); });
  }
  void update_own(Queue& queue) const override {
    const Range own = Base::own_parameters();
    const Gpu gpu(Base::runtime(), queue);
    gpu.launcher().elements(static_cast<int>(own.size()),
                            UpdateOwn<State>{Base::memory(), static_cast<int>(own.begin)});
  }
  void update() const override {
    if (Base::is_sharded())
      gpu_.launcher().elements(Replicated<Mnist>::all, UpdateReplicated<Pack>{Base::memory(), memory()});
    else
      gpu_.launcher().elements(Update<Pack>::threads, Update<Pack>{Base::memory(), memory()});
  }
  void evaluate() const override {
    const State s = Base::memory();
    for (std::int64_t begin = 0; begin < s.test_count;) {
      const Take take = s.tests(begin);
      items<Forward>(s, take, Forward::items(take.count));
      items<Dense>(s, take, Dense::items(take.count, slices_));
      items<Loss>(s, take, take.count);
      begin += take.count;
    }
    items<CountRight>(s, s.tests(0), 1);
  }
  void end_epoch() const override { gpu_.launcher().elements(1, EndEpoch<State>{Base::memory()}); }

 private:
  static constexpr int threads = 1 << 16;  ///< threads that copy

  [[nodiscard]] int images() const { return static_cast<int>(Base::max_images()); }
  [[nodiscard]] int of(int items) const { return league_ > 0 ? std::min(league_, items) : items; }
  [[nodiscard]] GpuMemory memory() const {
    return {forward2_.data(), backward2_.data(), products_.data(), partials_.data(), size_.data(), slices_, teams_};
  }
  template <class Kernel>
  void items(const State& s, const Take& take, int count) const {
    if (count > 0) gpu_.launcher().template items<Kernel>(of(count), s, memory(), take, count);
  }

  Gpu gpu_;
  int multiprocessors_, slices_, league_ = 0, teams_ = 1;
  Array<float> forward2_, backward2_, products_, partials_;
  Array<blocks::StepSize<float>> size_;
};

}  // namespace league::cnn
