// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/group_native_kokkos.hpp"
#include "algorithms/blocks/mma_native.hpp"
#include "algorithms/cnn/gpu_layers_shard.hpp"
#include "algorithms/cnn/host_unit_layers.hpp"
#include "algorithms/cnn/host_units.hpp"
#include "algorithms/cnn/kokkos_host.hpp"
#include "algorithms/cnn/kokkos_launcher.hpp"
#include "algorithms/cnn/unit_method.hpp"

namespace league::cnn {
namespace {

using blocks::mma::Element, blocks::mma::Native;

template <class Unit, class Backward>
using UnitShard =
    std::conditional_t<kokkos::on_gpu, GpuShard<kokkos_model::Gpu<blocks::NativeThreads>, UnitMethod<Unit, Backward>>,
                       kokkos_model::OnHost<UnitStep<Unit, Backward>>>;
template <class Unit>
using Routed = UnitShard<Unit, RoutedBackward>;
template <class Unit>
using Dense = UnitShard<Unit, UnitBackward<Unit>>;
template <class Unit>
using UnitsOfCifar10 =
    std::conditional_t<kokkos::on_gpu,
                       GpuLayersShard<kokkos_model::Gpu<blocks::NativeThreads>, UnitLayers<Unit, Cifar10>>,
                       kokkos_model::OnHost<UnitLayerStep<Unit, Cifar10>>>;
const RegisterTraining<Routed<Native<Element::tf32>>, UnitsOfCifar10<Native<Element::tf32>>> tf32{
    "tensor_tf32", kokkos::specialised_model};
const RegisterTraining<Routed<Native<Element::bf16>>, UnitsOfCifar10<Native<Element::bf16>>> bf16{
    "tensor_bf16", kokkos::specialised_model};
const RegisterTraining<Dense<Native<Element::tf32>>, NothingRouted> dense_tf32{"tensor_dense_tf32",
                                                                               kokkos::specialised_model};
const RegisterTraining<Dense<Native<Element::bf16>>, NothingRouted> dense_bf16{"tensor_dense_bf16",
                                                                               kokkos::specialised_model};

}  // namespace
}  // namespace league::cnn
