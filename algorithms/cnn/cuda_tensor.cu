// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/mma_native.hpp"
#include "algorithms/cnn/cuda_launcher.hpp"
#include "algorithms/cnn/gpu_layers_shard.hpp"
#include "algorithms/cnn/unit_layers.hpp"
#include "algorithms/cnn/unit_method.hpp"

namespace league::cnn {
namespace {

using blocks::mma::Element, blocks::mma::Native;

template <class Unit, class Backward>
using UnitShard = GpuShard<cuda_model::Gpu, UnitMethod<Unit, Backward>>;
template <class Unit>
using Routed = UnitShard<Unit, RoutedBackward>;
template <class Unit>
using Dense = UnitShard<Unit, UnitBackward<Unit>>;
template <class Unit>
using UnitsOfCifar10 = GpuLayersShard<cuda_model::Gpu, UnitLayers<Unit, Cifar10>>;
const RegisterTraining<Routed<Native<Element::tf32>>, UnitsOfCifar10<Native<Element::tf32>>> tf32{"tensor_tf32",
                                                                                                  cuda::model};
const RegisterTraining<Routed<Native<Element::bf16>>, UnitsOfCifar10<Native<Element::bf16>>> bf16{"tensor_bf16",
                                                                                                  cuda::model};
const RegisterTraining<Dense<Native<Element::tf32>>, NothingRouted> dense_tf32{"tensor_dense_tf32", cuda::model};
const RegisterTraining<Dense<Native<Element::bf16>>, NothingRouted> dense_bf16{"tensor_dense_bf16", cuda::model};

}  // namespace
}  // namespace league::cnn
