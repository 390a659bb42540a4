// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/serial/serial.hpp"

#include "algorithms/cnn/host.hpp"
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
using Part = HostPart<Threads, host::Array, LoopStep<Backward>>;
const RegisterTraining<Part<HostDirect>> direct{"direct", serial::model, {Execution::stream}};
const RegisterTraining<Part<HostRouted>> routed{"routed", serial::model, {Execution::stream}};

}  // namespace
}  // namespace league::cnn
