// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/cnn/host_step.hpp"
#include "algorithms/cnn/shard.hpp"
#include "backends/host_array.hpp"

/// Training on host threads: the sequence of phases.
namespace league::cnn {

/// A shard on a host. `Threads`: the threads of a launch, `all(phase)` calls phase(thread) in each. `Step`: a method.
template <class Threads, template <class> class Array, class Step>
class HostShard final : public CnnShard<Array, typename Step::Net> {
  using Base = CnnShard<Array, typename Step::Net>;

 public:
  using Base::Base;
  Launch configure(Launch launch) override {
    launch_ = Threads::resolve(this->queue(), launch);
    memory_.configure(*this, this->memory(), threads());
    return launch_;
  }
  void begin() const override {
    submit([](const Step& on, const Threads& all) { all([&](int t) { on.state.begin(t, on.threads); }); });
  }
  void keep_start() const override {
    submit([](const Step& on, const Threads& all) { all([&](int t) { on.state.keep_start(t, on.threads); }); });
  }
  void keep_before() const override {
    submit([](const Step& on, const Threads& all) { all([&](int t) { on.state.keep_before(t, on.threads); }); });
  }
  void differentiate(Stages& stages, int phase) const override {
    const auto stage = [&](const char* name, const auto& body) {
      stages.stage(this->queue(), name, [&] { submit(body); });
    };
    if (phase > 0)
      return stage("convolutions backward",
                   [](const Step& on, const Threads& all) { on.convolve_back(all, on.state.now()); });
    stage("forward", [](const Step& on, const Threads& all) { on.forward(all, on.state.now()); });
    stage("dense backward", [](const Step& on, const Threads& all) { on.dense_back(all, on.state.now()); });
  }
  void update_own() const override { update(this->second_queue(), {this->own_parameters()}); }
  void update() const override {
    using Net = typename Step::Net;
    if (this->is_sharded())
      update(this->queue(), {{0, Net::fc1_weights}, {Net::fc1_biases, Net::parameters}});
    else
      update(this->queue(), {{0, Net::parameters}});
    submit([](const Step& on, const Threads&) { on.state.end_step(); });
  }
  void evaluate() const override {
    submit([](const Step& on, const Threads& all) {
      for (std::int64_t begin = 0; begin < on.state.test_count;) {
        const auto take = on.state.tests(begin);
        on.forward(all, take);
        begin += take.count;
      }
      on.count();
    });
  }
  void end_epoch() const override {
    submit([](const Step& on, const Threads&) { on.state.end_epoch(); });
  }

 private:
  [[nodiscard]] int threads() const { return launch_.league * launch_.team; }
  template <class Body>
  void submit(const Body& body) const {
    submit(this->queue(), body);
  }
  template <class Body>
  void submit(Queue& queue, const Body& body) const {
    const Step step(this->memory(), threads(), memory_);
    queue.submit([step, body, all = Threads(this->runtime(), queue, launch_)] { body(step, all); });
  }
  void update(Queue& queue, std::initializer_list<Range> ranges) const {
    for (const Range range : ranges)
      submit(queue, [range](const Step& on, const Threads& all) { all([&](int t) { on.update(range, t); }); });
  }
  Launch launch_;
  mutable typename Step::Memory memory_;
};

}  // namespace league::cnn
