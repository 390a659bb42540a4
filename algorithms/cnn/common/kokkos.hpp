// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/numbers_kokkos.hpp"
#include "algorithms/cnn/training.hpp"
#include "backends/kokkos/kokkos.hpp"
#include "backends/kokkos/submit.hpp"

/// What the methods that are written once share.
namespace league::cnn::kokkos_model {

using blocks::Numbers;
using kokkos::Exec, kokkos::Member;

/// Of a shard, in the kernels.
template <class T>
using Vector = Kokkos::View<T*, Kokkos::LayoutRight, kokkos::Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// A queue with arrays, for KernelTraining.
class Device {
 public:
  template <class T>
  using Array = kokkos::Array<T>;

  /// Calls `body(i)` for each element.
  struct Launcher {
    Queue& queue;
    const Exec& exec;
    template <class Body>
    void elements(int count, const Body& body) const {
      kokkos::submit(queue, "cnn/elements", kokkos::light(Kokkos::RangePolicy<Exec>(exec, 0, count)), body);
    }
  };
  Device(Runtime& runtime, Queue& queue) : queue_(queue), exec_(kokkos::instance(runtime, queue)) {}
  [[nodiscard]] Launcher launcher() const { return {queue_, exec_}; }

 private:
  Queue& queue_;
  const Exec& exec_;
};

}  // namespace league::cnn::kokkos_model
