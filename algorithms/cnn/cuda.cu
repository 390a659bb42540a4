// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/cnn/cuda_launcher.hpp"
#include "algorithms/cnn/gpu_layers_part.hpp"

namespace league::cnn {
namespace {

template <class Backward>
using Part = GpuPart<cuda_model::Gpu, FloatMethod<Backward>>;
using OfCifar10 = GpuLayersPart<cuda_model::Gpu, Cifar10>;
const RegisterTraining<Part<DirectBackward>, OfCifar10> direct{"direct", cuda::model};
const RegisterTraining<Part<RoutedBackward>> routed{"routed", cuda::model};

}  // namespace
}  // namespace league::cnn
