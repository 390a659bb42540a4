// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CUDA 13 changed the signatures of three calls that Kokkos 4.7.00 makes; later releases are adapted. These overloads
// forward the old calls to the new ones. Force-included into Kokkos' own sources and into the files that use it, for
// that pair of versions only.
#pragma once

#if defined(__CUDACC__)
#include <cuda_runtime_api.h>

#if CUDART_VERSION >= 13000
/// Negative device: the host.
inline cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t bytes, int device, cudaStream_t stream) {
  cudaMemLocation location{};
  location.type = device < 0 ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
  location.id = device < 0 ? 0 : device;
  return cudaMemPrefetchAsync(pointer, bytes, location, 0U, stream);
}

inline cudaError_t cudaMemAdvise_v2(const void* pointer, size_t bytes, cudaMemoryAdvise advice,
                                    cudaMemLocation location) {
  return cudaMemAdvise(pointer, bytes, advice, location);
}

inline cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                            size_t count) {
  return cudaGraphAddDependencies(graph, from, to, nullptr, count);
}
#endif
#endif
