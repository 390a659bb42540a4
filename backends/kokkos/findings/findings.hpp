// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <benchmark/benchmark.h>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#ifdef KOKKOS_ENABLE_CUDA
#include <cuda_runtime.h>
#endif

/// Each file shows one property of Kokkos with the smallest kernel that has it, beside the same kernel in CUDA, or on a
/// host in OpenMP: same arguments, same launch, same arithmetic. Nothing of League is used: a file can be sent with
/// this header alone.
namespace findings {

using Exec = Kokkos::DefaultExecutionSpace;
using Team = Kokkos::TeamPolicy<Exec>;
using Member = Team::member_type;

#ifdef KOKKOS_ENABLE_CUDA
inline void check(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

/// Times `launch()` by events: one iteration is the mean of `launches` calls.
template <class Launch>
void measure(benchmark::State& state, int launches, const Launch& launch) {
  const cudaStream_t stream = Exec().cuda_stream();
  cudaEvent_t begin{}, end{};
  check(cudaEventCreate(&begin));
  check(cudaEventCreate(&end));
  for (int i = 0; i < launches; ++i) launch();
  for ([[maybe_unused]] auto round : state) {
    check(cudaEventRecord(begin, stream));
    for (int i = 0; i < launches; ++i) launch();
    check(cudaEventRecord(end, stream));
    check(cudaEventSynchronize(end));
    float ms = 0;
    check(cudaEventElapsedTime(&ms, begin, end));
    state.SetIterationTime(1e-3 * static_cast<double>(ms) / launches);
  }
  check(cudaGetLastError());
  check(cudaEventDestroy(begin));
  check(cudaEventDestroy(end));
}

inline int multiprocessors() {
  int count = 0;
  check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0));
  return count;
}
#else
/// Times `launch()` by the steady clock: one iteration is the mean of `launches` calls.
template <class Launch>
void measure(benchmark::State& state, int launches, const Launch& launch) {
  using Clock = std::chrono::steady_clock;
  for (int i = 0; i < launches; ++i) launch();
  for ([[maybe_unused]] auto round : state) {
    Kokkos::fence();
    const auto begin = Clock::now();
    for (int i = 0; i < launches; ++i) launch();
    Kokkos::fence();
    state.SetIterationTime(std::chrono::duration<double>(Clock::now() - begin).count() / launches);
  }
}
#endif

/// Values on the device, zero at first.
using Floats = Kokkos::View<float*, Kokkos::LayoutRight, Exec::memory_space>;

inline double least(const std::vector<double>& times) { return *std::min_element(times.begin(), times.end()); }

}  // namespace findings

/// A benchmark of the function's name, whose iterations set their own time; 10 repetitions of 10 iterations. The
/// time of processors is that of all threads.
#define FINDING(...)                              \
  BENCHMARK(__VA_ARGS__)                          \
      ->MeasureProcessCPUTime()                   \
      ->UseManualTime()                           \
      ->Unit(benchmark::kMicrosecond)             \
      ->Iterations(10)                            \
      ->Repetitions(10)                           \
      ->ComputeStatistics("min", findings::least) \
      ->ReportAggregatesOnly()
