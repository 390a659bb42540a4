// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>

#include "algorithms/cnn/direct_backward.hpp"
#include "algorithms/cnn/part.hpp"
#include "backends/launch.hpp"

/// `direct` on one GPU: the order of the kernels, and their leagues.
namespace league::cnn {

/// What threads do, one element each.
struct Begin {
  State s;
  int threads;
  LEAGUE_FUNCTION void operator()(int at) const { s.begin(at, threads); }
};
struct KeepStart {
  State s;
  int threads;
  LEAGUE_FUNCTION void operator()(int at) const { s.keep_start(at, threads); }
};
struct KeepBefore {
  State s;
  int threads;
  LEAGUE_FUNCTION void operator()(int at) const { s.keep_before(at, threads); }
};
struct PackWeights {
  State s;
  DirectMemory memory;
  bool ends_step;
  LEAGUE_FUNCTION void operator()(int at) const {
    pack_weight(s, memory, at);
    if (ends_step && at == 0) s.end_step();
  }
};
struct AddSmall {
  State s;
  LEAGUE_FUNCTION void operator()(int at) const { SmallSums::add(s, s.now(), at); }
};
struct AddPartials {
  State s;
  DirectMemory memory;
  int teams;
  LEAGUE_FUNCTION void operator()(int at) const { add_partials(s, memory, teams, at); }
};
struct Update {
  State s;
  LEAGUE_FUNCTION void operator()(int at) const { s.update(at, s.step_size()); }
};
struct EndEpoch {
  State s;
  LEAGUE_FUNCTION void operator()(int) const { s.end_epoch(); }
};

/// `Gpu`: the model's arrays, and a launcher of kernels.
template <class Gpu>
class DirectPart final : public CnnPart<Gpu::template Array> {
  using Base = CnnPart<Gpu::template Array>;
  template <class T>
  using Array = typename Gpu::template Array<T>;

 public:
  DirectPart(const Cnn& problem, const Context& context, const Shard& shard)
      : Base(problem, context, shard), gpu_(context, Base::queue()) {
    const std::int64_t images = std::max<std::int64_t>(Base::most_images(), 1);
    Base::declare(packed_, "cnn/packed", channels1 * taps * channels2);
    Base::declare(products_, "cnn/products", Dense::slices * images * hidden);
  }
  Launch configure(Launch launch) override {
    if (launch.team > 0 || launch.vector > 0 || launch.tile > 0)
      throw Unsupported("team, vector and tile: the kernels of this method have their own");
    league_ = launch.league;
    teams_ = static_cast<int>(std::clamp<std::int64_t>(Base::most_images(), 1, league_ > 0 ? league_ : most_teams));
    Base::declare(partials1_, "cnn/partials1", std::int64_t{teams_} * conv1_size);
    Base::declare(partials2_, "cnn/partials2", std::int64_t{teams_} * conv2_size);
    return {league_ > 0 ? league_ : of(2 * images()), Forward::threads, 1, 0};
  }
  void begin() const override {
    gpu_.launcher().elements(threads, Begin{Base::memory(), threads});
    pack(false);
  }
  void keep_start() const override { gpu_.launcher().elements(threads, KeepStart{Base::memory(), threads}); }
  void keep_before() const override { gpu_.launcher().elements(threads, KeepBefore{Base::memory(), threads}); }
  void differentiate(Stages& stages) const override {
    const State s = Base::memory();
    const Take each{.trains = true};  // the kernels find out which
    const auto launcher = gpu_.launcher();
    stages.stage(Base::queue(), "convolutions", [&] { items<Forward>(s, each, 2 * images()); });
    stages.stage(Base::queue(), "dense", [&] { items<Dense>(s, each, Dense::items(images())); });
    stages.stage(Base::queue(), "loss", [&] { items<Judge>(s, each, images()); });
    stages.stage(Base::queue(), "dense backward", [&] {
      launcher.elements(SmallSums::all, AddSmall{s});
      items<DenseGradient>(s, each, DenseGradient::items);
      items<DenseInput>(s, each, DenseInput::items(images()));
    });
    stages.stage(Base::queue(), "convolutions backward", [&] {
      launcher.template teams<Conv2Gradient>(teams_, s, direct());
      launcher.template teams<Conv1Gradient>(teams_, s, direct());
      launcher.elements(conv1_size + conv2_size, AddPartials{s, direct(), teams_});
    });
  }
  void update() const override {
    gpu_.launcher().elements(parameters, Update{Base::memory()});
    pack(true);
  }
  void evaluate() const override {
    const State s = Base::memory();
    for (std::int64_t begin = 0; begin < s.test_count;) {
      const Take take = s.tests(begin);
      items<Forward>(s, take, 2 * take.count);
      items<Dense>(s, take, Dense::items(take.count));
      items<Judge>(s, take, take.count);
      begin += take.count;
    }
    gpu_.launcher().template teams<CountRight>(1, s, direct());
  }
  void end_epoch() const override { gpu_.launcher().elements(1, EndEpoch{Base::memory()}); }

 private:
  static constexpr int threads = 1 << 16;  ///< that copy
  static constexpr int most_teams = 264;   ///< with sums of their own: two for each multiprocessor of the largest GPUs

  [[nodiscard]] int images() const { return static_cast<int>(Base::most_images()); }
  [[nodiscard]] int of(int items) const { return std::max(1, league_ > 0 ? std::min(league_, items) : items); }
  [[nodiscard]] DirectMemory direct() const {
    return {packed_.data(), products_.data(), partials2_.data(), partials1_.data()};
  }
  template <class Kernel>
  void items(const State& s, const Take& take, int count) const {
    if (count > 0) gpu_.launcher().template items<Kernel>(of(count), s, direct(), take, count);
  }
  void pack(bool ends_step) const {
    gpu_.launcher().elements(channels1 * taps * channels2, PackWeights{Base::memory(), direct(), ends_step});
  }

  Gpu gpu_;
  int league_ = 0, teams_ = 1;
  Array<float> packed_, products_, partials1_, partials2_;
};

}  // namespace league::cnn
