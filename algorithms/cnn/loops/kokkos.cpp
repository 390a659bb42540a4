// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/cnn/loops/kokkos_dense.hpp"
#include "algorithms/cnn/loops/kokkos_dense_backward.hpp"
#include "algorithms/cnn/loops/kokkos_direct.hpp"
#include "algorithms/cnn/loops/kokkos_forward.hpp"
#include "algorithms/cnn/loops/kokkos_routed.hpp"
#include "algorithms/cnn/loops/kokkos_update.hpp"

namespace league::cnn::kokkos_model {
namespace {

/// `Backward`: the kernels of the convolutions' backward pass.
template <class Backward>
class Loops final : public KernelTraining<Device, Mnist, Memory, PackWeights> {
  using Base = KernelTraining<Device, Mnist, Memory, PackWeights>;

 public:
  Loops(const Cnn& problem, const Context& context, const Shard& shard)
      : Base(problem, context, shard),
        exec_(kokkos::instance(runtime(), queue())),
        slices_(Dense::slices_for(some_images(), at_once<Dense>())),
        d_pitch_(ceil_div(some_images(), of_product.tile) * of_product.tile + padding) {
    declare(forward2_, "cnn/forward2", channels1 * taps * channels2);
    declare(backward2_, "cnn/backward2", channels1 * taps * channels2);
    declare(first_, "cnn/first", (taps + 1) * channels1);
    declare(products_, "cnn/products", std::int64_t{slices_} * some_images() * hidden);
    declare(d_h_, "cnn/d_h_transposed", std::int64_t{hidden} * d_pitch_);
  }
  Launch configure(Launch launch) override {
    limit_league(launch);
    teams_ = std::clamp(Backward::items(images()), 1, teams(at_once<typename Backward::Last>()));
    declare(partials_, "cnn/partials", std::int64_t{teams_} * fc1_weights);
    return {league_size(Forward::bands * some_images()), Forward::numbers.team, 1, 0};
  }
  void differentiate(Stages& stages, int phase) const override {
    const BatchKernel each{memory(), {.trains = true}};  // the kernels read from the state which images
    const auto stage = [&](const char* name, const auto& body) { stages.stage(queue(), name, body); };
    if (phase > 0) {
      stage("convolutions backward", [&] { Backward::run(*this, each); });
      stage("sums of teams",
            [&] { run("cnn/sums", AddPartials::items, AddPartials{each, partials_.view(), step_size(), teams_}); });
      return;
    }
    forward(stage, each, images());
    stage("dense backward", [&] { differentiate_dense(each); });
  }
  void update() const override {
    if (is_sharded()) return Base::update();
    launcher().elements(UpdateAll::elements, UpdateAll{memory(), kernel_memory()});
  }

  /// Launches teams of the kernel, one for each item unless there is a limit.
  template <class Kernel>
  void run(const char* label, int items, const Kernel& kernel) const {
    launch(label, league_size(items), kernel);
  }
  template <class Kernel>
  void launch(const char* label, int league, const Kernel& kernel) const {
    using Bounds = Kokkos::LaunchBounds<Kernel::numbers.team, kokkos::launch_bound(std::max(Kernel::numbers.teams, 1))>;
    Kokkos::TeamPolicy<Exec, Kokkos::IndexType<std::int64_t>, Bounds> policy(exec_, league, Kernel::numbers.team, 1);
    policy.set_scratch_size(int{Kernel::numbers.level}, Kokkos::PerTeam(Kernel::bytes()));
    kokkos::submit(queue(), label, kokkos::light(policy), kernel);
  }
  [[nodiscard]] Memory kernel_memory() const override {
    return {forward2_.view(), backward2_.view(), first_.view(), products_.view(), d_h_.view(),
            partials_.view(), step_size(),       slices_,       d_pitch_,         teams_};
  }
  [[nodiscard]] std::int64_t values() const { return std::int64_t{some_images()} * pooled; }

 private:
  static constexpr int padding = 16;  ///< of rows of `d_h`: hosts read them from other sets of a cache

  /// Teams that the device holds at once.
  template <class Kernel>
  [[nodiscard]] int at_once() const {
    return std::max(blocks::lanes_at_once(exec_, Kernel::numbers, Kernel::numbers.team) / Kernel::numbers.team, 1);
  }
  void classify(const State& s, const Take& take) const override {
    forward([](const char*, const auto& body) { body(); }, BatchKernel{s, take}, take.count);
  }
  void count_right(const State& s) const override { launch("cnn/right", 1, CountRight{s}); }

  template <class Stage>
  void forward(const Stage& stage, const BatchKernel& each, int count) const {
    if (count == 0) return;
    const State& s = each.s;
    stage("convolutions", [&] {
      run("cnn/forward", Forward::bands * count,
          Forward{each, blocks::packs<Forward::width>(Vector<const float>(forward2_.view())),
                  blocks::packs<of_pooled.width>(Vector<float>(s.p, values())),
                  blocks::packs<of_pooled.width>(Vector<std::uint8_t>(s.pool_decisions, values()))});
    });
    stage("dense", [&] {
      run("cnn/dense", Dense::tiles(count) * slices_,
          Dense{each, blocks::packs<Dense::width>(Vector<const float>(s.p, values())), weights<Dense::width>(s),
                products_.view(), slices_});
    });
    stage("loss", [&] { run("cnn/loss", count, Loss{each, products_.view(), d_h_.view(), slices_, d_pitch_}); });
  }
  void differentiate_dense(const BatchKernel& each) const {
    constexpr int rows = Product::rows, width = Product::width;
    const State& s = each.s;
    run("cnn/dense_backward", DenseBackward::items(images()),
        DenseBackward{each, blocks::packs<rows>(Vector<const float>(s.d_h, std::int64_t{some_images()} * hidden)),
                      blocks::packs<rows>(Vector<const float>(d_h_.view())),
                      blocks::packs<width>(Vector<const float>(s.p, values())), weights<width>(s),
                      blocks::packs<width>(Vector<float>(s.d_p, values())),
                      blocks::packs<width>(Vector<float>(s.gradient + fc1_weights, hidden * pooled)), d_pitch_ / rows});
  }
  template <int width>
  static blocks::Packs<const float, width> weights(const State& s) {
    return blocks::packs<width>(Vector<const float>(s.weights + fc1_weights, hidden * pooled));
  }

  const Exec& exec_;
  int slices_, d_pitch_, teams_ = 1;
  kokkos::Array<float> forward2_, backward2_, first_, products_, d_h_, partials_;
};

struct Routed {
  using Last = RoutedGradient;
  static int items(int images) { return RoutedGradient::bands * images; }
  template <class Training>
  static void run(const Training& on, const BatchKernel& each) {
    constexpr int width = RoutedGradient::width;
    const Memory memory = on.kernel_memory();
    const State& s = each.s;
    on.launch("cnn/routed", memory.teams,
              RoutedGradient{each, blocks::packs<width>(Vector<const float>(memory.first)),
                             blocks::packs<width>(Vector<const float>(memory.backward2)),
                             blocks::packs<of_pooled.width>(Vector<const float>(s.d_p, on.values())),
                             blocks::packs<of_pooled.width>(Vector<const std::uint8_t>(s.pool_decisions, on.values())),
                             blocks::packs<width>(memory.partials)});
  }
};

struct Direct {
  using Last = Conv2Gradient;
  static int items(int images) { return Conv2Gradient::bands * images; }
  template <class Training>
  static void run(const Training& on, const BatchKernel& each) {
    constexpr int width = Conv2Gradient::width;
    const Memory memory = on.kernel_memory();
    const auto first = blocks::packs<width>(Vector<const float>(memory.first));
    const Vector<const float> d_p(each.s.d_p, on.values());
    const Vector<const std::uint8_t> decisions(each.s.pool_decisions, on.values());
    const auto partials = blocks::packs<width>(memory.partials);
    on.launch("cnn/weights", memory.teams, Conv2Gradient{each, first, d_p, decisions, partials});
    on.launch("cnn/inputs", memory.teams,
              Conv1Gradient{each, first, blocks::packs<width>(Vector<const float>(memory.backward2)), d_p, decisions,
                            partials});
  }
};

WrittenModel once() {
  return written_once<float>(kokkos::model, []<class T>(Of<T>) { return blocks::named(of_forward); });
}
const RegisterTraining<Loops<Direct>> direct{"direct", once()};
const RegisterTraining<Loops<Routed>> routed{"routed", once()};

}  // namespace
}  // namespace league::cnn::kokkos_model
