// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/cnn/openmp.hpp"

#include "algorithms/cnn/host_layer_step.hpp"

namespace league::cnn {
namespace {

template <class Backward>
using MethodShard = HostShard<openmp_model::Threads, host::Array, LoopStep<Backward>>;
using OfCifar10 = HostShard<openmp_model::Threads, host::Array, LayerStep<Cifar10>>;
const RegisterTraining<MethodShard<HostDirect>, OfCifar10> direct{"direct", openmp::model, {Execution::stream}};
const RegisterTraining<MethodShard<HostRouted>> routed{"routed", openmp::model, {Execution::stream}};

}  // namespace
}  // namespace league::cnn
