// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <optional>
#include <string>

#include "algorithms/cnn/layers.hpp"
#include "algorithms/cnn/shard.hpp"
#include "backends/launch.hpp"

/// A training step by library calls, layer by layer, with our own kernels between: the sequence of both.
namespace league::cnn::layers {

/// One shard. `Convolutions` do the convolutions of a batch, with biases, ReLU, pool and decisions:
/// - `Net`: the network; `Runner`: the model's arrays and launches, and its products of matrices;
/// - `Memory`: with planes as the convolutions take them;
/// - `form`: of the outputs;
/// - `chunk(images)`: images per chunk of `Layout`;
/// - `declare(shard)`: further memory; `choose(m)`: choices by measurement, after allocation;
/// - `forward(m)`: m.x to m.s.p;
/// - `backward(m)`: from m.s.d_p, the gradients of the convolutions' parameters;
/// - `warm_up(m)`: every library call once, on zeros.
template <class Convolutions>
class LayersShard final : public CnnShard<Convolutions::Runner::template Array, typename Convolutions::Net> {
  using N = typename Convolutions::Net;
  using Memory = typename Convolutions::Memory;
  using Value = typename Memory::Value;
  using State = StateOf<N>;
  using Runner = typename Convolutions::Runner;
  using Base = CnnShard<Runner::template Array, N>;
  template <class T>
  using Array = typename Runner::template Array<T>;

 public:
  LayersShard(const Cnn& problem, const Context& context, const Shard& shard)
      : Base(problem, context, shard),
        images_(static_cast<int>(std::max<std::int64_t>(Base::max_images(), 1))),
        chunks_(ceil_div(images_, SmallSums<N>::images)),
        runner_(context, Base::queue()),
        slices_(runner_.slices(images_ <= 256 ? N::flat / 128 : std::max(N::flat / 512, 1))),
        convolutions_(runner_, images_) {
    const std::int64_t images = images_;
    if (Base::is_sharded()) second_runner_.emplace(context, Base::second_queue());
    Base::take_form(Convolutions::form);
    Base::declare(now_, "cnn/now", 1);
    Base::declare(x_, "cnn/x", images * N::pixels);
    for (int n = 0; n < count; ++n) {
      const Convolution& of = N::network.convolutions[n];
      const std::string number = std::to_string(n + 1);
      Base::declare(z_[n], "cnn/z" + number, of.decides ? images * of.outputs * of.positions() : 0);
      if (n + 1 == count) continue;
      Base::declare(a_[n], "cnn/a" + number, images * of.values());
      Base::declare(d_a_[n], "cnn/d_a" + number, images * of.values());
    }
    Base::declare(products_, "cnn/products", slices_ * images * N::hidden);
    Base::declare(logits_, "cnn/logits", images * classes);
    Base::declare(small_sums_, "cnn/small_sums", std::int64_t{chunks_} * SmallSums<N>::all);
    Base::declare(counts_, "cnn/counts", CountRight<N>::threads);
  }
  Launch configure(Launch launch) override {
    if (launch != Launch{}) throw Unsupported("the libraries choose their own launches");
    convolutions_.declare(*this);
    runner_.declare(*this, std::int64_t{std::max(images_, N::hidden)} * N::flat, [this] { warm_up(); });
    return {};
  }
  void begin() const override {
    runner_.elements(State::copying_threads, Begin<State>{Base::memory()});
    runner_.elements(1, TakeBatch<N>{memory()});
  }
  void keep_start() const override { runner_.elements(State::copying_threads, KeepStart<State>{Base::memory()}); }
  void keep_before() const override { runner_.elements(State::copying_threads, KeepBefore<State>{Base::memory()}); }
  void differentiate(Stages& stages, int phase) const override {
    const Memory m = memory();
    const State& s = m.s;
    if (phase > 0) return stages.stage(Base::queue(), "convolutions backward", [&] { convolutions_.backward(m); });
    forward(m, stages);
    stages.stage(Base::queue(), "dense backward", [&] {
      dense_back(s);
      if (chunks_ == 1) {
        runner_.elements(SmallSums<N>::all, SmallSums<N>{m, s.gradient + N::fc1_biases});
      } else {
        runner_.elements(chunks_ * SmallSums<N>::all, SmallSums<N>{m, small_sums_.data()});
        runner_.elements(SmallSums<N>::all, AddSmallSums<N>{m, small_sums_.data(), chunks_});
      }
    });
  }
  void update_own() const override {
    const Range own = Base::own_parameters();
    second_runner_->elements(static_cast<int>(own.size()),
                             UpdateOwn<State>{Base::memory(), static_cast<int>(own.begin)});
  }
  void update() const override {
    if (Base::is_sharded())
      runner_.elements(Replicated<N>::all, UpdateReplicated<N>{memory()});
    else
      runner_.elements(N::parameters, Update<N>{memory()});
    runner_.elements(1, EndStep<N>{memory()});
  }
  void evaluate() const override {
    const Memory m = memory();
    Stages unmarked;
    for (std::int64_t first = 0; first < m.s.test_count; first += m.s.tests(first).count) {
      runner_.elements(1, TakeTests<N>{m, first});
      forward(m, unmarked);
    }
    runner_.elements(CountRight<N>::threads, CountRight<N>{m});
    runner_.elements(1, AddCounts<N>{m});
    runner_.elements(1, TakeBatch<N>{m});
  }
  void end_epoch() const override { runner_.elements(1, EndEpoch<State>{Base::memory()}); }

 private:
  [[nodiscard]] Memory memory() const {
    Memory all{};
    static_cast<MemoryOf<N>&>(all) = {.s = Base::memory(),
                                      .now = now_.data(),
                                      .layout = {images_, convolutions_.chunk()},
                                      .products = products_.data(),
                                      .logits = logits_.data(),
                                      .counts = counts_.data()};
    all.x = x_.data();
    for (int n = 0; n < count; ++n) {
      all.z[n] = z_[n].data();
      if (n + 1 < count) all.a[n] = a_[n].data(), all.d_a[n] = d_a_[n].data();
    }
    return all;
  }
  void forward(const Memory& m, Stages& stages) const {
    stages.stage(Base::queue(), "convolutions", [&] {
      runner_.images(images_, Pixels<N, Value>{m});
      convolutions_.forward(m);
    });
    stages.stage(Base::queue(), "dense", [&] {
      dense(m);
      runner_.images(images_, Hidden<N>{m, slices_});
    });
    stages.stage(Base::queue(), "loss", [&] {
      runner_.images(images_, Logits<N>{m});
      runner_.images(images_, Loss<N>{m});
    });
  }

  void dense(const Memory& m) const {
    runner_.product(images_, N::hidden, N::flat, {m.s.p}, {m.s.weights + N::fc1_weights, true}, m.products, slices_);
  }
  void dense_back(const State& s) const {
    runner_.product(N::hidden, N::flat, images_, {s.d_h, true}, {s.p}, s.gradient + N::fc1_weights);
    runner_.product(images_, N::flat, N::hidden, {s.d_h}, {s.weights + N::fc1_weights}, s.d_p);
  }
  /// Warm-up: every library call once, on zeros.
  void warm_up() {
    const Memory m = memory();
    runner_.images(1, Clear<N::parameters>{m.s.weights});
    runner_.images(images_, Clear<N::pixels, Value>{m.x});
    clear_planes<0>(m);
    runner_.images(images_, Clear<N::flat>{m.s.p});
    runner_.images(images_, Clear<N::hidden>{m.s.d_h});
    convolutions_.choose(m);
    convolutions_.warm_up(m);
    dense(m);
    dense_back(m.s);
  }

  template <int n>
  void clear_planes(const Memory& m) const {
    using L = Layer<N, n>;
    if constexpr (L::of.decides) runner_.images(images_, Clear<L::outputs * L::of.positions(), Value>{m.z[n]});
    if constexpr (!L::last) {
      runner_.images(images_, Clear<L::values, Value>{m.a[n]});
      runner_.images(images_, Clear<L::values, Value>{m.d_a[n]});
      clear_planes<n + 1>(m);
    }
  }

  static constexpr int count = N::network.count;
  int images_;  ///< images of every library call
  int chunks_;  ///< of images, for the small sums
  Runner runner_;
  std::optional<Runner> second_runner_;  ///< of a sharded optimizer; made before anything is recorded
  int slices_;                           ///< split-K of the first dense layer's product, which has few rows and columns
  Convolutions convolutions_;
  Array<NowOf<N>> now_;
  Array<Value> x_, a_[count], d_a_[count], z_[count];
  Array<float> products_, logits_, small_sums_;
  Array<std::int64_t> counts_;
};

}  // namespace league::cnn::layers
