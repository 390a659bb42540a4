// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/cnn/gpu_layers_shard.hpp"
#include "algorithms/cnn/gpu_shard.hpp"
#include "tests/algorithms/cnn_teams.hpp"

namespace league::cnn::tests {
namespace {

TEST(CnnTeams, TrainInColour) {
  const auto problem =
      make(generated(5, 3, cifar10.pixels()),
           {{"network", "cifar10"}, {"optimizer", "adam"}, {"learning_rate", "0.001"}, {"batch", "4"}});
  expect_right<GpuLayersShard<Gpu<>, FloatLayers<Cifar10>>>(*problem, {}, 1);
  expect_right<GpuLayersShard<Gpu<>, FloatLayers<Cifar10>>>(*problem, {.league = 7}, 2);
}
TEST(CnnTeams, TrainOnDigits) {
  const auto problem = make(generated(3), {{"steps", "1"}, {"batch", "2"}});
  expect_right<GpuShard<Gpu<>, FloatMethod<DirectBackward>>>(*problem, {}, 1);
  expect_right<GpuShard<Gpu<>, FloatMethod<RoutedBackward>>>(*problem, {.league = 3}, 1);
}
TEST(CnnTeams, UpdatePieces) {
  const auto digits = make(generated(3), {{"steps", "2"}, {"batch", "2"}, {"shard_optimizer", "on"}});
  expect_right<GpuShard<Gpu<>, FloatMethod<RoutedBackward>>>(*digits, {}, 2);
  const auto colour = make(generated(3, 1, cifar10.pixels()), {{"network", "cifar10"},
                                                               {"optimizer", "adam"},
                                                               {"learning_rate", "0.001"},
                                                               {"steps", "2"},
                                                               {"batch", "2"},
                                                               {"shard_optimizer", "on"}});
  expect_right<GpuLayersShard<Gpu<>, FloatLayers<Cifar10>>>(*colour, {}, 2);
}

}  // namespace
}  // namespace league::cnn::tests
