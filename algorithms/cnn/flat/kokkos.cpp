// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// After oneDNN's reference primitives (ref_convolution and others): a loop per value, written anew.
#include "algorithms/cnn/common/kokkos.hpp"

#include "algorithms/cnn/flat/kokkos_layers.hpp"
#include "backends/kokkos/flat.hpp"

namespace league::cnn {
namespace {

using namespace kokkos_model;  // the kernels

/// No weights are packed.
struct PackNothing {
  static constexpr int first = 0, end = 0;
  State s;
  FlatMemory memory;
  LEAGUE_FUNCTION void operator()(int /*at*/) const {}
};

class Flat final : public KernelTraining<Device, Mnist, FlatMemory, PackNothing> {
  using Base = KernelTraining<Device, Mnist, FlatMemory, PackNothing>;

 public:
  Flat(const Cnn& problem, const Context& context, const Shard& shard)
      : Base(problem, context, shard), exec_(kokkos::instance(runtime(), queue())) {
    declare(a1_, "cnn/a1", std::int64_t{some_images()} * planes1);
    declare(d_a1_, "cnn/d_a1", std::int64_t{some_images()} * planes1);
    declare(gradients_, "cnn/gradients", std::int64_t{some_images()} * fc1_weights);
  }
  Launch configure(Launch launch) override { return launch_ = kokkos::resolve_flat(launch); }
  void differentiate(Stages& stages, int phase) const override {
    const Take each{.trains = true};
    const auto stage = [&](const char* name, const auto& body) { stages.stage(queue(), name, body); };
    if (phase > 0) {
      stage("convolutions backward", [&] {
        of_images<BackToConvolution1>(each, images());
        of_images<Convolution2Gradients>(each, images());
        of_images<Convolution1Gradients>(each, images());
        run<AddImages>(each, AddImages::all);
      });
      return;
    }
    stage("convolutions", [&] { of_images<Convolve1>(each, images()), of_images<Convolve2>(each, images()); });
    stage("dense", [&] { of_images<Dense1>(each, images()); });
    stage("loss", [&] { of_images<Classify>(each, images()); });
    stage("dense backward", [&] {
      of_images<BackToHidden>(each, images());
      of_images<BackToPool>(each, images());
      run<DenseGradients>(each, DenseGradients::all);
    });
  }

 private:
  [[nodiscard]] FlatMemory kernel_memory() const override {
    return {a1_.view(), d_a1_.view(), gradients_.view(), step_size()};
  }
  void classify(const State& /*s*/, const Take& take) const override {
    of_images<Convolve1>(take, take.count);
    of_images<Convolve2>(take, take.count);
    of_images<Dense1>(take, take.count);
    of_images<Classify>(take, take.count);
  }
  void count_right(const State& s) const override {
    const Kokkos::View<std::int64_t, kokkos::Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>> right(s.correct_here);
    kokkos::with_range(exec_, launch_.team, s.test_count, [&](const auto& range) {
      Kokkos::parallel_reduce("cnn/flat/right", kokkos::light(range), IsRight{s}, right);
    });
  }
  template <class Kernel>
  void of_images(const Take& take, int images) const {
    run<Kernel>(take, images * Kernel::each);
  }
  template <class Kernel>
  void run(const Take& take, std::int64_t count) const {
    const Kernel kernel{{memory(), kernel_memory(), take}};
    kokkos::with_range(exec_, launch_.team, count,
                       [&](const auto& range) { Kokkos::parallel_for("cnn/flat", kokkos::light(range), kernel); });
  }

  const kokkos::Exec& exec_;
  Launch launch_;
  kokkos::Array<float> a1_, d_a1_, gradients_;
};

const RegisterTraining<Flat> registered{"flat", written_once(kokkos::model), {Execution::stream}};

}  // namespace
}  // namespace league::cnn
