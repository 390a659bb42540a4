// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/mma_native.hpp"
#include "algorithms/cnn/cuda_launcher.hpp"
#include "algorithms/cnn/unit_method.hpp"

namespace league::cnn {
namespace {

using blocks::mma::Element;

template <Element element>
using Part = GpuPart<cuda_model::Gpu, UnitMethod<blocks::mma::Native<element>, RoutedBackward>>;
const RegisterTraining<Part<Element::tf32>> tf32{"tensor_tf32", cuda::model};
const RegisterTraining<Part<Element::bf16>> bf16{"tensor_bf16", cuda::model};

}  // namespace
}  // namespace league::cnn
