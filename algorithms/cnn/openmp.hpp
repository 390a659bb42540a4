// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/cnn/host.hpp"
#include "backends/host_pass.hpp"
#include "backends/openmp/openmp.hpp"

/// The threads of OpenMP.
namespace league::cnn::openmp_model {

struct Threads {
  Threads(Runtime&, Queue&, Launch launch) : threads(launch.league) {}
  static Launch resolve(Queue& queue, Launch launch) { return openmp::Pass::resolve(queue, launch, {}, 0); }
  /// Calls phase(thread) in all threads.
  template <class Phase>
  void operator()(const Phase& phase) const {
#pragma omp parallel for schedule(static, 1) num_threads(threads)
    for (int thread = 0; thread < threads; ++thread) phase(thread);
  }
  int threads;
};

}  // namespace league::cnn::openmp_model
