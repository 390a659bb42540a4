// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <array>
#include <memory>
#include <type_traits>
#include <vector>

#include "backends/cuda/cuda.hpp"
#include "backends/cuda/graph.hpp"

namespace league::cuda {
namespace {

std::array<unsigned, 3> sizes_of(dim3 size) { return {size.x, size.y, size.z}; }

KernelFacts facts_of(cudaGraphNode_t node) {
  cudaKernelNodeParams launch{};
  check(cudaGraphKernelNodeGetParams(node, &launch));
  cudaFuncAttributes found{};
  check(cudaFuncGetAttributes(&found, launch.func));
  const auto [x, y, z] = sizes_of(launch.blockDim);
  KernelFacts facts{.name = kernel_name(launch.func), .grid = sizes_of(launch.gridDim), .block = {x, y, z}};
  facts.registers = found.numRegs;
  facts.local_bytes = static_cast<std::int64_t>(found.localSizeBytes);
  facts.shared_bytes = static_cast<std::int64_t>(found.sharedSizeBytes + launch.sharedMemBytes);
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&facts.resident_blocks, launch.func, static_cast<int>(x * y * z),
                                                      launch.sharedMemBytes));
  return facts;
}

/// Adds the kernels of a graph, and of the graphs in it.
void add_kernels(cudaGraph_t graph, std::vector<KernelFacts>& all) {
  std::size_t count = 0;
  check(cudaGraphGetNodes(graph, nullptr, &count));
  std::vector<cudaGraphNode_t> nodes(count);
  check(cudaGraphGetNodes(graph, nodes.data(), &count));
  for (cudaGraphNode_t node : nodes) {
    cudaGraphNodeType type{};
    check(cudaGraphNodeGetType(node, &type));
    if (type == cudaGraphNodeTypeGraph) {
      cudaGraph_t inner = nullptr;
      check(cudaGraphChildGraphNodeGetGraph(node, &inner));
      add_kernels(inner, all);
    }
    if (type != cudaGraphNodeTypeKernel) continue;
    const KernelFacts facts = facts_of(node);
    const auto same = std::ranges::find_if(all, [&](const KernelFacts& one) { return one.same_launch(facts); });
    if (same == all.end())
      all.push_back(facts);
    else
      ++same->count;
  }
}

struct Destroy {
  void operator()(cudaGraph_t graph) const { static_cast<void>(cudaGraphDestroy(graph)); }
};
using Recorded = std::unique_ptr<std::remove_pointer_t<cudaGraph_t>, Destroy>;

/// The first queue's stream forks to the others and joins them, in capture and at every launch.
void fork(std::span<Queue* const> queues) {
  for (Queue* queue : queues.subspan(1)) queue->wait_for(*queues.front());
}
void join(std::span<Queue* const> queues) {
  for (Queue* queue : queues.subspan(1)) queues.front()->wait_for(*queue);
}

/// A graph over all devices.
Recorded capture(std::span<Queue* const> queues, const std::function<void()>& body) {
  Queue& first = *queues.front();
  cudaGraph_t graph = nullptr;
  check(cudaStreamBeginCapture(stream(first), cudaStreamCaptureModeThreadLocal));
  try {
    fork(queues);
    body();
    join(queues);
  } catch (...) {
    static_cast<void>(cudaStreamEndCapture(stream(first), &graph));
    if (graph != nullptr) static_cast<void>(cudaGraphDestroy(graph));
    static_cast<void>(cudaGetLastError());  // reported by the exception
    throw;
  }
  check(cudaStreamEndCapture(stream(first), &graph));
  return Recorded(graph);
}

class StreamGraph final : public Graph {
 public:
  StreamGraph(std::span<Queue* const> queues, const std::function<void()>& body)
      : queues_(queues.begin(), queues.end()) {
    check(instantiate(&executable_, capture(queues_, body).get()));
    check(upload_graph(executable_, stream(*queues_.front())));
  }
  ~StreamGraph() override {
    if (executable_ != nullptr) static_cast<void>(cudaGraphExecDestroy(executable_));
  }
  void launch() override {
    join(queues_);
    check(cudaGraphLaunch(executable_, stream(*queues_.front())));
    fork(queues_);
  }

 private:
  std::vector<Queue*> queues_;
  cudaGraphExec_t executable_ = nullptr;
};

}  // namespace

std::unique_ptr<Graph> record_graph(std::span<Queue* const> queues, const std::function<void()>& body) {
  return std::make_unique<StreamGraph>(queues, body);
}

std::vector<KernelFacts> recorded_kernels(std::span<Queue* const> queues, const std::function<void()>& body) {
  const Recorded graph = capture(queues, body);
  std::vector<KernelFacts> all;
  add_kernels(graph.get(), all);
  return all;
}

}  // namespace league::cuda
