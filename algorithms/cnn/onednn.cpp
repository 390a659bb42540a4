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
struct LayersStep : HostStep {
  /// The calls for each occurring number of images, and the tensors between them.
  class Memory {
   public:
    void configure(ShardPart& part, const State& state, int threads) {
      const std::int64_t max_images = std::max<std::int64_t>(state.own_count, 1);
      const std::set<std::int64_t> counts{state.own_count, state.own_last_count, std::min(state.test_count, max_images),
                                          state.test_count % max_images};
      const onednn::Threads limit(threads);
      layers_.clear();
      std::int64_t size = 0;
      for (const std::int64_t count : counts)
        if (count > 0) size = std::max(size, layers_.emplace_back(engine_, static_cast<int>(count)).size());
      part.declare(arena_, "cnn/layers", size);
    }
    [[nodiscard]] Layers& of(const State& state, int images) {
      Layers& found = *std::ranges::find(layers_, images, &Layers::images);
      found.bind(state, arena_.data());
      return found;
    }

   private:
    dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
    std::deque<Layers> layers_;
    host::Array<float> arena_;
  };
  LayersStep(const State& with, int count, Memory& of) : HostStep{with, count}, memory(of) {}

  template <class All>
  void forward(const All& all, const Take& take) const {
    if (take.count == 0) return;
    const onednn::Threads limit(threads);
    const Layers& layers = memory.of(state, take.count);
    all([&](int thread) { fill(take, layers.x(), thread); });
    layers.convolve();
    all([&](int thread) { drop(take, layers.places(), thread); });
    layers.multiply();
    all([&](int thread) { judge(take, thread); });
  }
  template <class All>
  void backward(const All& all, const Take& take) const {
    if (take.count == 0) {
      std::fill_n(state.gradient, parameters + 1, 0.0F);
      return;
    }
    const onednn::Threads limit(threads);
    const Layers& layers = memory.of(state, take.count);
    all([&](int thread) { differentiate_last(take, thread); });
    layers.multiply_back();
    all([&](int thread) { rectify(take, thread); });
    layers.convolve_back();
  }

 private:
  // A thread takes some images.
  void fill(const Take& take, float* x, int thread) const {
    const Range images = part(take.count, thread);
    for (auto i = static_cast<int>(images.begin); i < images.end; ++i)
      for (int k = 0; k < pixels; ++k) x[std::int64_t{i} * pixels + k] = pixel<float>(take.image(i)[k]);
  }
  void drop(const Take& take, const std::uint8_t* places, int thread) const {
    const Range images = part(take.count, thread);
    for (auto i = static_cast<int>(images.begin); i < images.end; ++i) {
      const std::int64_t end = (std::int64_t{i} + 1) * pooled;
      if (take.trains)
        for (std::int64_t at = end - pooled; at < end; ++at)
          state.pool_decisions[at] = Decision::of(places[at], state.p[at] > 0);
      drop_pooled(state, take, i);
    }
  }
  // Back through dropout and ReLU.
  void rectify(const Take& take, int thread) const {
    const auto scale = state.dropout_of(take).pooled_scale<float>();
    const Range values = part(std::int64_t{take.count} * pooled, thread);
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

const RegisterTraining<HostPart<Threads, host::Array, LayersStep>> layers{"layers", onednn::model, {Execution::stream}};

}  // namespace
}  // namespace league::cnn
