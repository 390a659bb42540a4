// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>

#include "algorithms/cnn/layers.hpp"
#include "algorithms/cnn/part.hpp"
#include "backends/launch.hpp"

/// A training step by library calls, layer by layer, with our own kernels between: the sequence of both.
namespace league::cnn::layers {

/// One shard. `Convolutions` do the convolutions of a batch, with biases and ReLU:
/// - `Runner`: the model's arrays and launches, and its products of matrices;
/// - `form`: of the outputs;
/// - `chunk(images)`: images per chunk of `Layout`;
/// - `declare(part)`: further memory; `choose(m)`: choices by measurement, after allocation;
/// - `first(m)`: m.x to m.a1; `second(m)`: m.a1 to m.z2, without biases;
/// - `second_back(m)`: from the gradient in m.z2, the gradient of the second's parameters and m.d_a1;
/// - `first_back(m)`: from m.d_a1, the gradient of the first's parameters.
template <class Convolutions>
class LayersPart final : public CnnPart<Convolutions::Runner::template Array> {
  using Runner = typename Convolutions::Runner;
  using Base = CnnPart<Runner::template Array>;
  template <class T>
  using Array = typename Runner::template Array<T>;

 public:
  LayersPart(const Cnn& problem, const Context& context, const Shard& shard)
      : Base(problem, context, shard),
        images_(static_cast<int>(std::max<std::int64_t>(Base::max_images(), 1))),
        chunks_(ceil_div(images_, SmallSums::images)),
        runner_(context, Base::queue()),
        slices_(runner_.slices(images_ <= 256 ? pooled / 128 : pooled / 512)),
        convolutions_(runner_, images_) {
    const std::int64_t images = images_;
    Base::take_form(Convolutions::form);
    Base::declare(now_, "cnn/now", 1);
    Base::declare(x_, "cnn/x", images * pixels);
    Base::declare(a1_, "cnn/a1", images * channels1 * side1 * side1);
    Base::declare(d_a1_, "cnn/d_a1", images * channels1 * side1 * side1);
    Base::declare(z2_, "cnn/z2", images * channels2 * side2 * side2);
    Base::declare(products_, "cnn/products", slices_ * images * hidden);
    Base::declare(logits_, "cnn/logits", images * classes);
    Base::declare(small_sums_, "cnn/small_sums", std::int64_t{chunks_} * SmallSums::all);
    Base::declare(counts_, "cnn/counts", CountRight::threads);
  }
  Launch configure(Launch launch) override {
    if (launch != Launch{}) throw Unsupported("the libraries choose their own launches");
    convolutions_.declare(*this);
    runner_.declare(*this, [this] { warm_up(); });
    return {};
  }
  void begin() const override {
    runner_.elements(copying_threads, Begin<State>{Base::memory(), copying_threads});
    runner_.elements(1, TakeBatch{memory()});
  }
  void keep_start() const override {
    runner_.elements(copying_threads, KeepStart<State>{Base::memory(), copying_threads});
  }
  void keep_before() const override {
    runner_.elements(copying_threads, KeepBefore<State>{Base::memory(), copying_threads});
  }
  void differentiate(Stages& stages) const override {
    const Memory m = memory();
    const State& s = m.s;
    forward(m, stages);
    stages.stage(Base::queue(), "dense backward", [&] {
      dense_back(s);
      if (chunks_ == 1) {
        runner_.elements(SmallSums::all, SmallSums{m, s.gradient + fc1_biases});
      } else {
        runner_.elements(chunks_ * SmallSums::all, SmallSums{m, small_sums_.data()});
        runner_.elements(SmallSums::all, AddSmallSums{m, small_sums_.data(), chunks_});
      }
    });
    stages.stage(Base::queue(), "convolutions backward", [&] {
      runner_.images(images_, Unpool{m});
      convolutions_.second_back(m);
      convolutions_.first_back(m);
    });
  }
  void update() const override {
    runner_.elements(parameters, Update{memory()});
    runner_.elements(1, EndStep{memory()});
  }
  void evaluate() const override {
    const Memory m = memory();
    Stages unmarked;
    for (std::int64_t first = 0; first < m.s.test_count; first += m.s.tests(first).count) {
      runner_.elements(1, TakeTests{m, first});
      forward(m, unmarked);
    }
    runner_.elements(CountRight::threads, CountRight{m});
    runner_.elements(1, AddCounts{m});
    runner_.elements(1, TakeBatch{m});
  }
  void end_epoch() const override { runner_.elements(1, EndEpoch<State>{Base::memory()}); }

 private:
  static constexpr int copying_threads = 1 << 16;

  [[nodiscard]] Memory memory() const {
    return {.s = Base::memory(),
            .now = now_.data(),
            .layout = {images_, convolutions_.chunk()},
            .x = x_.data(),
            .a1 = a1_.data(),
            .z2 = z2_.data(),
            .d_a1 = d_a1_.data(),
            .products = products_.data(),
            .logits = logits_.data(),
            .counts = counts_.data()};
  }
  void forward(const Memory& m, Stages& stages) const {
    stages.stage(Base::queue(), "convolutions", [&] {
      runner_.images(images_, Pixels{m});
      convolutions_.first(m);
      convolutions_.second(m);
      runner_.images(images_, Pool{m});
    });
    stages.stage(Base::queue(), "dense", [&] {
      dense(m);
      runner_.images(images_, Hidden{m, slices_});
    });
    stages.stage(Base::queue(), "loss", [&] {
      runner_.images(images_, Logits{m});
      runner_.images(images_, Loss{m});
    });
  }

  void dense(const Memory& m) const {
    runner_.product(images_, hidden, pooled, {m.s.p}, {m.s.weights + fc1_weights, true}, m.products, slices_);
  }
  void dense_back(const State& s) const {
    runner_.product(hidden, pooled, images_, {s.d_h, true}, {s.p}, s.gradient + fc1_weights);
    runner_.product(images_, pooled, hidden, {s.d_h}, {s.weights + fc1_weights}, s.d_p);
  }
  /// Warm-up: every library call once, on zeros.
  void warm_up() {
    const Memory m = memory();
    runner_.images(1, Clear<parameters>{m.s.weights});
    runner_.images(images_, Clear<pixels>{m.x});
    runner_.images(images_, Clear<MaskInput::per_image>{m.a1});
    runner_.images(images_, Clear<MaskInput::per_image>{m.d_a1});
    runner_.images(images_, Clear<4 * pooled>{m.z2});
    runner_.images(images_, Clear<pooled>{m.s.p});
    runner_.images(images_, Clear<hidden>{m.s.d_h});
    convolutions_.choose(m);
    convolutions_.first(m);
    convolutions_.second(m);
    dense(m);
    dense_back(m.s);
    convolutions_.second_back(m);
    convolutions_.first_back(m);
  }

  int images_;  ///< images of every library call
  int chunks_;  ///< of images, for the small sums
  Runner runner_;
  int slices_;  ///< split-K of the first dense layer's product, which has few rows and columns
  Convolutions convolutions_;
  Array<Now> now_;
  Array<float> x_, a1_, d_a1_, z2_, products_, logits_, small_sums_;
  Array<std::int64_t> counts_;
};

}  // namespace league::cnn::layers
