// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/cnn/openmp.hpp"

namespace league::cnn {
namespace {

template <class Backward>
using Part = HostPart<openmp_model::Threads, host::Array, LoopStep<Backward>>;
const RegisterTraining<Part<HostDirect>> direct{"direct", openmp::model, {Execution::stream}};
const RegisterTraining<Part<HostRouted>> routed{"routed", openmp::model, {Execution::stream}};

}  // namespace
}  // namespace league::cnn
