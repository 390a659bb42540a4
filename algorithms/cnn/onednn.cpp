// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <deque>
#include <set>

#include "algorithms/cnn/onednn_layers.hpp"
#include "algorithms/cnn/openmp.hpp"

namespace league::cnn {
namespace {

/// `layers`: one library call per layer. Our own: pixel conversion, dropout and decisions, the last layer with the
/// loss, the optimizer.
template <class N>
struct LayersStep : HostStepOf<N> {
  using Base = HostStepOf<N>;
  using typename Base::Take;
  using State = StateOf<N>;
  using Base::part, Base::state;
  /// The calls for each occurring number of images, and the tensors between them.
  class Memory {
   public:
    template <class MethodShard>
    void configure(MethodShard& shard, const State& state, int threads) {
      const std::int64_t max_images = std::max<std::int64_t>(state.own_count, 1);
      const std::set<std::int64_t> counts{state.own_count, state.own_last_count, std::min(state.test_count, max_images),
                                          state.test_count % max_images};
      const onednn::Threads limit(threads);
      layers_.clear();
      std::int64_t size = 0;
      for (const std::int64_t count : counts)
        if (count > 0) size = std::max(size, layers_.emplace_back(engine_, static_cast<int>(count)).size());
      shard.declare(arena_, "cnn/layers", size);
    }
    [[nodiscard]] Layers<N>& of(const State& state, int images) {
      Layers<N>& found = *std::ranges::find(layers_, images, &Layers<N>::images);
      found.bind(state, arena_.data());
      return found;
    }

   private:
    dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
    std::deque<Layers<N>> layers_;
    host::Array<float> arena_;
  };
  LayersStep(const State& with, int count, Memory& of) : Base{with, count}, memory(of) {}

  template <class All>
  void forward(const All& all, const Take& take) const {
    if (take.count == 0) return;
    const onednn::Threads limit(Base::threads);
    const Layers<N>& layers = memory.of(state, take.count);
    all([&](int thread) { fill(take, layers.x(), thread); });
    layers.convolve();
    all([&](int thread) { decide(take, layers, thread); });
    layers.multiply();
    all([&](int thread) { Base::judge(take, thread); });
  }
  template <class All>
  void dense_back(const All& all, const Take& take) const {
    if (take.count == 0) {
      std::fill(state.gradient + N::fc1_weights, state.gradient + N::parameters + 1, 0.0F);
      return;
    }
    const onednn::Threads limit(Base::threads);
    all([&](int thread) { Base::differentiate_last(take, thread); });
    memory.of(state, take.count).multiply_back();
    all([&](int thread) { rectify(take, thread); });
  }
  template <class All>
  void convolve_back(const All& /*all*/, const Take& take) const {
    if (take.count == 0) {
      std::fill_n(state.gradient, N::fc1_weights, 0.0F);
      return;
    }
    const onednn::Threads limit(Base::threads);
    memory.of(state, take.count).convolve_back();
  }

 private:
  // A thread takes some images.
  void fill(const Take& take, float* x, int thread) const {
    const Range images = part(take.count, thread);
    for (auto i = static_cast<int>(images.begin); i < images.end; ++i)
      for (int k = 0; k < N::pixels; ++k) x[std::int64_t{i} * N::pixels + k] = N::pixel(take.image(i)[k]);
  }
  // Keeps the decisions, then ReLU and dropout after the last layer.
  void decide(const Take& take, const Layers<N>& layers, int thread) const {
    const Range images = part(take.count, thread);
    for (auto i = static_cast<int>(images.begin); i < images.end; ++i) {
      if (take.trains) keep_decisions(layers, i);
      if constexpr (N::network.drops) {
        drop_pooled(state, take, i);
      } else {
        float* p = state.p + std::int64_t{i} * N::flat;
        for (int k = 0; k < N::flat; ++k) p[k] = std::max(p[k], 0.0F);
      }
    }
  }
  void keep_decisions(const Layers<N>& layers, int i) const {
    for (int n = 0; n < N::network.count; ++n) {
      const Convolution& of = N::network.convolutions[n];
      if (!of.decides) continue;
      const auto [values, places] = layers.decided(n);
      std::uint8_t* decisions = state.pool_decisions + std::int64_t{i} * N::decisions + of.decisions;
      for (int k = 0; k < of.values(); ++k) {
        const std::int64_t at = std::int64_t{i} * of.values() + k;
        decisions[k] = Decision::of(places == nullptr ? 0 : places[at], values[at] > 0);
      }
    }
  }
  // Back through dropout and ReLU.
  void rectify(const Take& take, int thread) const {
    const auto scale = state.dropout_of(take).template pooled_scale<float>();
    const Range values = part(std::int64_t{take.count} * N::flat, thread);
    for (std::int64_t at = values.begin; at < values.end; ++at)
      state.d_p[at] = state.p[at] > 0 ? scale * state.d_p[at] : 0.0F;
  }

  Memory& memory;
};

struct Threads : openmp_model::Threads {
  using openmp_model::Threads::Threads;
  static Launch resolve(Queue& queue, Launch launch) {
    if (launch != Launch{}) throw Unsupported("oneDNN chooses its own launch");
    return openmp_model::Threads::resolve(queue, launch);
  }
};

template <class N>
using MethodShard = HostShard<Threads, host::Array, LayersStep<N>>;
const RegisterTraining<MethodShard<Mnist>, MethodShard<Cifar10>> layers{"layers", onednn::model, {Execution::stream}};

}  // namespace
}  // namespace league::cnn
