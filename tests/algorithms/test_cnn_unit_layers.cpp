// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/mma_cuda.hpp"
#include "algorithms/blocks/mma_hip.hpp"
#include "algorithms/cnn/gpu_layers_shard.hpp"
#include "algorithms/cnn/host.hpp"
#include "algorithms/cnn/host_unit_layers.hpp"
#include "tests/algorithms/cnn_teams.hpp"

// The kernels of the network cifar10 on matrix units, by simulated teams of GPUs: whole trainings against the oracle,
// and against the same kernels on host threads.
namespace league::cnn::tests {
namespace {

using blocks::mma::Element;
using league::tests::Simulated;

struct OneThread {
  OneThread(Runtime&, Queue&, Launch) {}
  static Launch resolve(Queue&, Launch) { return {1, 1, 1, 0}; }
  template <class Phase>
  void operator()(const Phase& phase) const {
    phase(0);
  }
};

template <class Unit>
class CnnUnitLayers : public ::testing::Test {
 protected:
  using Team = GpuLayersShard<Gpu<Unit>, UnitLayers<Unit, Cifar10>>;
  using Thread = HostShard<OneThread, Memory, UnitLayerStep<blocks::mma::Scalar<Unit::element>, Cifar10>>;
  static std::unique_ptr<Cnn> problem(std::int64_t train, std::int64_t test, Values values) {
    values.insert({{"network", "cifar10"}, {"optimizer", "adam"}, {"learning_rate", "0.001"}});
    return make(generated(train, test, cifar10.pixels()), values);
  }
};
using Units = ::testing::Types<Simulated<blocks::mma::Warp<Element::tf32>>, Simulated<blocks::mma::Warp<Element::bf16>>,
                               Simulated<blocks::mma::Wavefront<Element::tf32>>,
                               Simulated<blocks::mma::Wavefront<Element::bf16>>>;
TYPED_TEST_SUITE(CnnUnitLayers, Units);

TYPED_TEST(CnnUnitLayers, TrainOnOneImage) {
  expect_right<typename TestFixture::Team>(*this->problem(1, 1, {{"steps", "2"}}), {}, 1);
}
/// On three devices, of which two have no image of the last batch.
TYPED_TEST(CnnUnitLayers, AnEpochWithASmallerLastBatchAndATest) {
  expect_right<typename TestFixture::Team>(*this->problem(8, 2, {{"batch", "7"}}), {.league = 5}, 3);
}
TYPED_TEST(CnnUnitLayers, OfAGpuTeamDoTheWorkOfAHostThread) {
  const auto problem = this->problem(5, 1, {{"steps", "1"}, {"batch", "5"}});
  Solved team = solved_by<typename TestFixture::Team>(*problem, {}, 1);
  Solved thread = solved_by<typename TestFixture::Thread>(*problem, {}, 1);
  const auto found = team.values<float>(Cnn::gradient), expected = thread.values<float>(Cnn::gradient);
  for (int tensor = 0; tensor < cifar10.tensors(); ++tensor) {
    double apart = 0, size = 0;
    for (auto i = static_cast<std::size_t>(cifar10.tensor_begin(tensor));
         i < static_cast<std::size_t>(cifar10.tensor_begin(tensor + 1)); ++i) {
      apart += std::pow(found[i] - expected[i], 2);
      size += std::pow(expected[i], 2);
    }
    EXPECT_LT(std::sqrt(apart / size), 2e-3) << "tensor " << tensor;
  }
}

}  // namespace
}  // namespace league::cnn::tests
