// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/cnn/cuda_launcher.hpp"
#include "algorithms/cnn/gpu_layers_shard.hpp"

namespace league::cnn {
namespace {

template <class Backward>
using MethodShard = GpuShard<cuda_model::Gpu, FloatMethod<Backward>>;
using OfCifar10 = GpuLayersShard<cuda_model::Gpu, FloatLayers<Cifar10>>;
const RegisterTraining<MethodShard<DirectBackward>, OfCifar10> direct{"direct", cuda::model};
const RegisterTraining<MethodShard<RoutedBackward>> routed{"routed", cuda::model};

}  // namespace
}  // namespace league::cnn
