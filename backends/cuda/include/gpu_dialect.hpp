// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>

#include <cstdint>

/// The differences between CUDA and HIP, for CUDA. `backends/hip/include/gpu_dialect.hpp` is the same for HIP; the
/// include path of a build selects one of them.
namespace league::cuda {

inline constexpr const char* dialect = "cuda";
inline constexpr int warp_size = 32;
/// The second launch bound for `blocks` resident blocks per multiprocessor.
constexpr int launch_bound(int blocks) { return blocks; }

/// Shuffle down: the value of the lane `offset` above, within groups of `width` lanes.
template <class T>
__device__ T shuffle_down(T value, int offset, int width = warp_size) {
  return __shfl_down_sync(0xffffffffU, value, static_cast<unsigned>(offset), width);
}
template <class T>
__device__ T shuffle_xor(T value, int mask, int width = warp_size) {
  return __shfl_xor_sync(0xffffffffU, value, mask, width);
}
/// A streaming (non-temporal) store.
template <class T>
__device__ void store_streaming(T* address, T value) {
  __stcs(address, value);
}

/// Maximum dynamic shared memory of a block, with opt-in by `allow_scratch`.
inline std::size_t max_scratch(const cudaDeviceProp& properties) { return properties.sharedMemPerBlockOptin; }
/// Allows launches of `kernel` with `bytes` of dynamic shared memory on this device. The limit is the kernel's, so it
/// only grows: other launches of it may need more.
inline cudaError_t allow_scratch(const void* kernel, int bytes) {
  cudaFuncAttributes found{};
  if (const cudaError_t error = cudaFuncGetAttributes(&found, kernel); error != cudaSuccess) return error;
  if (bytes <= found.maxDynamicSharedSizeBytes) return cudaSuccess;
  return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
}
/// Shared memory before first-level cache: by default there is room for few blocks only.
inline cudaError_t prefer_scratch(const void* kernel) {
  return cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared);
}

/// Aborts the kernel, and with it the context, by an error.
__device__ inline void trap() { __trap(); }

/// Flags between devices: whoever loads what was stored sees all that was visible to the storing thread before.
__device__ inline unsigned load_acquire(const unsigned* flag) {
  unsigned value = 0;
  asm volatile("ld.acquire.sys.u32 %0, [%1];" : "=r"(value) : "l"(flag) : "memory");
  return value;
}
__device__ inline void store_release(unsigned* flag, unsigned value) {
  asm volatile("st.release.sys.u32 [%0], %1;" : : "l"(flag), "r"(value) : "memory");
}

/// A nanosecond clock, the same on all multiprocessors of a device; its resolution may be a microsecond.
__device__ inline std::uint64_t clock_ns() {
  std::uint64_t now = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

inline cudaError_t instantiate(cudaGraphExec_t* executable, cudaGraph_t graph) {
  return cudaGraphInstantiate(executable, graph, 0);
}
/// Uploads a graph to its devices before its first launch.
inline cudaError_t upload_graph(cudaGraphExec_t executable, cudaStream_t stream) {
  return cudaGraphUpload(executable, stream);
}

/// The name of a kernel in its object file, mangled; empty before CUDA 12.3, which does not tell.
inline const char* kernel_name([[maybe_unused]] const void* kernel) {
  const char* name = nullptr;
#if CUDART_VERSION >= 12030
  if (cudaFuncGetName(&name, kernel) != cudaSuccess) static_cast<void>(cudaGetLastError());
#endif
  return name == nullptr ? "" : name;
}

/// Moves managed memory to a device.
inline cudaError_t prefetch(const void* data, std::size_t bytes, int device, cudaStream_t stream) {
  cudaMemLocation where{};
  where.type = cudaMemLocationTypeDevice;
  where.id = device;
  return cudaMemPrefetchAsync(data, bytes, where, 0U, stream);
}

inline void push_profiler_range(const char* name) { nvtxRangePushA(name); }
inline void pop_profiler_range() { nvtxRangePop(); }

}  // namespace league::cuda
