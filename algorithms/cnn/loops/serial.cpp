// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/serial/serial.hpp"

#include "algorithms/cnn/host.hpp"
#include "algorithms/cnn/host_layer_step.hpp"
#include "backends/host_pass.hpp"

namespace league::cnn {
namespace {

struct Threads {
  Threads(Runtime&, Queue&, Launch) {}
  static Launch resolve(Queue& queue, Launch launch) { return serial::Pass::resolve(queue, launch, {}, 0); }
  /// Calls phase(thread) in all threads.
  template <class Phase>
  void operator()(const Phase& phase) const {
    phase(0);
  }
};

template <class Backward>
using MethodShard = HostShard<Threads, host::Array, LoopStep<Backward>>;
using OfCifar10 = HostShard<Threads, host::Array, LayerStep<Cifar10>>;
const RegisterTraining<MethodShard<HostDirect>, OfCifar10> direct{"direct", serial::model, {Execution::stream}};
const RegisterTraining<MethodShard<HostRouted>> routed{"routed", serial::model, {Execution::stream}};

}  // namespace
}  // namespace league::cnn
