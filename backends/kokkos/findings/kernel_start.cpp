// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <type_traits>

#include "backends/kokkos/findings/findings.hpp"

// What a kernel takes that computes next to nothing: 100 kernels of one team of 32 threads in a graph, each of which
// waits for the one before. A Kokkos kernel reads its arguments from several lines of the constant cache, one after
// another; in CUDA `lines` such lines of 64 bytes.
namespace findings {
namespace {

constexpr int nodes = 100, team_size = 32, line = 64 / sizeof(int);

template <int lines>
struct Arguments {
  float* out;
  int zeros[lines * line];
};

/// What a line holds, 0, says where in the next line to read.
template <int lines>
__global__ void kernel_start(const __grid_constant__ Arguments<lines> arguments) {
  int at = 0;
  for (int i = 0; i < lines; ++i) at += line - arguments.zeros[at];
  if (threadIdx.x == 0) arguments.out[at - lines * line] += 1;
}

/// Times a graph of what `launch()` submits, `nodes` times.
template <class Launch>
void measure_graph(benchmark::State& state, const Launch& launch) {
  const cudaStream_t stream = Exec().cuda_stream();
  cudaGraph_t graph{};
  cudaGraphExec_t ready{};
  launch();  // Kokkos sets up what it needs, which cannot be captured
  check(cudaStreamSynchronize(stream));
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  for (int i = 0; i < nodes; ++i) launch();
  check(cudaStreamEndCapture(stream, &graph));
  check(cudaGraphInstantiate(&ready, graph, 0));
  measure(state, 1, [&] { check(cudaGraphLaunch(ready, stream)); });
  check(cudaGraphExecDestroy(ready));
  check(cudaGraphDestroy(graph));
}

template <class Policy>
void kernel_start_kokkos(benchmark::State& state) {
  const Floats out("out", 1);
  float* const to = out.data();
  const Exec exec;
  measure_graph(state, [&] {
    if constexpr (std::is_same_v<Policy, Team>)
      Kokkos::parallel_for(
          "kernel_start", Team(exec, 1, team_size, 1), KOKKOS_LAMBDA(const Member& team) {
            if (team.team_rank() == 0) to[team.league_rank()] += 1;
          });
    else
      Kokkos::parallel_for("kernel_start", Policy(exec, 0, 1), KOKKOS_LAMBDA(int i) { to[i] += 1; });
  });
}

template <int lines>
void kernel_start_cuda(benchmark::State& state) {
  const Floats out("out", 1);
  const Arguments<lines> arguments{out.data(), {}};
  measure_graph(state, [&] { kernel_start<lines><<<1, team_size, 0, Exec().cuda_stream()>>>(arguments); });
}

FINDING(kernel_start_kokkos<Team>);
FINDING(kernel_start_kokkos<Kokkos::RangePolicy<Exec>>);
FINDING(kernel_start_cuda<1>);
FINDING(kernel_start_cuda<2>);
FINDING(kernel_start_cuda<3>);
FINDING(kernel_start_cuda<4>);

}  // namespace
}  // namespace findings
