// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/cnn/cuda_launcher.hpp"

namespace league::cnn {
namespace {

template <class Backward>
using Part = GpuPart<cuda_model::Gpu, FloatMethod<Backward>>;
const RegisterTraining<Part<DirectBackward>> direct{"direct", cuda::model};
const RegisterTraining<Part<RoutedBackward>> routed{"routed", cuda::model};

}  // namespace
}  // namespace league::cnn
