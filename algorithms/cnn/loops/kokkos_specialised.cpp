// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/cnn/gpu_layers_shard.hpp"
#include "algorithms/cnn/host_layer_step.hpp"
#include "algorithms/cnn/kokkos_host.hpp"
#include "algorithms/cnn/kokkos_launcher.hpp"

namespace league::cnn {
namespace {

using Gpu = kokkos_model::Gpu<blocks::TeamThreads>;
template <class OnGpu, class OnHost>
using MethodShard =
    std::conditional_t<kokkos::on_gpu, GpuShard<Gpu, FloatMethod<OnGpu>>, kokkos_model::OnHost<LoopStep<OnHost>>>;
using OfCifar10 = std::conditional_t<kokkos::on_gpu, GpuLayersShard<Gpu, FloatLayers<Cifar10>>,
                                     kokkos_model::OnHost<LayerStep<Cifar10>>>;
const RegisterTraining<MethodShard<DirectBackward, HostDirect>, OfCifar10> direct{
    "direct", several_bodies(kokkos::specialised_model, true)};
const RegisterTraining<MethodShard<RoutedBackward, HostRouted>> routed{"routed",
                                                                       several_bodies(kokkos::specialised_model, true)};

}  // namespace
}  // namespace league::cnn
