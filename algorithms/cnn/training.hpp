// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <optional>

#include "algorithms/blocks/unrolled.hpp"
#include "algorithms/cnn/shard.hpp"
#include "backends/launch.hpp"

/// What the networks and methods of our own kernels share on one device: state, update, tests.
namespace league::cnn {

/// Updates four parameters; all their loads are in flight together. `Pack`: packs the weights from `first` to `end`.
template <class Pack, class S, class Memory>
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
template <class Pack, class S, class Memory>
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

/// `Device`: the model's arrays, and a launcher of kernels. `Memory_`: of the kernels, beside the state. `Pack_`: packs
/// the parameters from `first` to `end` for them.
template <class Device, class Net, class Memory_, class Pack_>
class KernelTraining : public CnnShard<Device::template Array, Net> {
  using Base = CnnShard<Device::template Array, Net>;

 public:
  using State = StateOf<Net>;
  using Take = TakeOf<Net>;
  using Memory = Memory_;
  using Pack = Pack_;

  KernelTraining(const Cnn& problem, const Context& context, const Shard& shard)
      : Base(problem, context, shard), device_(Base::runtime(), Base::queue()) {
    if (Base::is_sharded()) second_.emplace(Base::runtime(), Base::second_queue());
    Base::declare(size_, "cnn/step_size", 1);
  }
  void begin() const override {
    launcher().elements(State::copying_threads, Begin<State>{Base::memory()});
    launcher().elements(Pack::end - Pack::first, Pack{Base::memory(), kernel_memory()});
  }
  void keep_start() const override { launcher().elements(State::copying_threads, KeepStart<State>{Base::memory()}); }
  void keep_before() const override { launcher().elements(State::copying_threads, KeepBefore<State>{Base::memory()}); }
  void update_own() const override {
    const Range own = Base::own_parameters();
    second_->launcher().elements(static_cast<int>(own.size()),
                                 UpdateOwn<State>{Base::memory(), static_cast<int>(own.begin)});
  }
  void update() const override {
    using All = Update<Pack, State, Memory>;
    using Rest = UpdateReplicated<Pack, State, Memory>;
    if (Base::is_sharded())
      launcher().elements(Replicated<Net>::all, Rest{Base::memory(), kernel_memory()});
    else
      launcher().elements(All::threads, All{Base::memory(), kernel_memory()});
  }
  void evaluate() const override {
    const State s = Base::memory();
    for (std::int64_t begin = 0; begin < s.test_count;) {
      const Take take = s.tests(begin);
      classify(s, take);
      begin += take.count;
    }
    count_right(s);
  }
  void end_epoch() const override { launcher().elements(1, EndEpoch<State>{Base::memory()}); }

 protected:
  [[nodiscard]] virtual Memory kernel_memory() const = 0;
  /// The kernels forward, for the test images of `take`.
  virtual void classify(const State& s, const Take& take) const = 0;
  /// Counts the test images that are classified right.
  virtual void count_right(const State& s) const = 0;

  /// The league size of every launch is at most this; 0: no limit. @throws Unsupported for a launch that says more
  void limit_league(const Launch& launch) {
    if (launch.team > 0 || launch.vector > 0 || launch.tile > 0)
      throw Unsupported("team, vector and tile: fixed by the kernels of this method");
    league_ = launch.league;
  }
  [[nodiscard]] int league_size(int items) const { return league_ > 0 ? std::min(league_, items) : items; }
  /// The requested league size, or these.
  [[nodiscard]] int teams(int at_once) const { return league_ > 0 ? league_ : at_once; }
  /// Maximum images per batch; `some_images`: at least one, for sizes of arrays.
  [[nodiscard]] int images() const { return static_cast<int>(Base::max_images()); }
  [[nodiscard]] int some_images() const { return std::max(images(), 1); }
  [[nodiscard]] auto launcher() const { return device_.launcher(); }
  [[nodiscard]] blocks::StepSize<float>* step_size() const { return size_.data(); }

 private:
  Device device_;
  std::optional<Device> second_;  ///< of a sharded optimizer; made before anything is recorded
  int league_ = 0;
  typename Device::template Array<blocks::StepSize<float>> size_;
};

}  // namespace league::cnn
