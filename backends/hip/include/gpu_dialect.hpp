// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <hip/hip_runtime.h>

#include <cstdint>
#include <memory>

// The CUDA runtime calls used in the project, as their HIP equivalents.
#define cudaDeviceCanAccessPeer hipDeviceCanAccessPeer
#define cudaDeviceEnablePeerAccess hipDeviceEnablePeerAccess
#define cudaDeviceGetStreamPriorityRange hipDeviceGetStreamPriorityRange
#define cudaDeviceProp hipDeviceProp_t
#define cudaDeviceSynchronize hipDeviceSynchronize
#define cudaDriverGetVersion hipDriverGetVersion
#define cudaError_t hipError_t
#define cudaErrorInvalidValue hipErrorInvalidValue
#define cudaErrorLaunchOutOfResources hipErrorLaunchOutOfResources
#define cudaErrorMemoryAllocation hipErrorOutOfMemory
#define cudaErrorNotReady hipErrorNotReady
#define cudaErrorPeerAccessAlreadyEnabled hipErrorPeerAccessAlreadyEnabled
#define cudaEventBlockingSync hipEventBlockingSync
#define cudaEvent_t hipEvent_t
#define cudaEventCreate hipEventCreate
#define cudaEventCreateWithFlags hipEventCreateWithFlags
#define cudaEventDefault hipEventDefault
#define cudaEventDestroy hipEventDestroy
#define cudaEventDisableTiming hipEventDisableTiming
#define cudaEventElapsedTime hipEventElapsedTime
#define cudaEventQuery hipEventQuery
#define cudaEventRecord hipEventRecord
#define cudaEventSynchronize hipEventSynchronize
#define cudaFree hipFree
#define cudaFreeHost hipHostFree
#define cudaFuncAttributes hipFuncAttributes
#define cudaFuncGetAttributes hipFuncGetAttributes
#define cudaGetDevice hipGetDevice
#define cudaGetDeviceCount hipGetDeviceCount
#define cudaGetDeviceProperties hipGetDeviceProperties
#define cudaGetErrorName hipGetErrorName
#define cudaGetErrorString hipGetErrorString
#define cudaGetLastError hipGetLastError
#define cudaGraph_t hipGraph_t
#define cudaGraphChildGraphNodeGetGraph hipGraphChildGraphNodeGetGraph
#define cudaGraphDestroy hipGraphDestroy
#define cudaGraphExec_t hipGraphExec_t
#define cudaGraphExecDestroy hipGraphExecDestroy
#define cudaGraphGetNodes hipGraphGetNodes
#define cudaGraphKernelNodeGetParams hipGraphKernelNodeGetParams
#define cudaGraphLaunch hipGraphLaunch
#define cudaGraphNode_t hipGraphNode_t
#define cudaGraphNodeGetType hipGraphNodeGetType
#define cudaGraphNodeType hipGraphNodeType
#define cudaGraphNodeTypeGraph hipGraphNodeTypeGraph
#define cudaGraphNodeTypeKernel hipGraphNodeTypeKernel
#define cudaHostAlloc hipHostMalloc
#define cudaHostAllocPortable hipHostMallocPortable
#define cudaHostRegister hipHostRegister
#define cudaHostRegisterPortable hipHostRegisterPortable
#define cudaHostUnregister hipHostUnregister
#define cudaKernelNodeParams hipKernelNodeParams
#define cudaLaunchHostFunc league::cuda::launch_host_function
#define cudaMalloc hipMalloc
#define cudaMallocManaged hipMallocManaged
#define cudaMemAttachGlobal hipMemAttachGlobal
#define cudaMemcpy hipMemcpy
#define cudaMemcpyAsync hipMemcpyAsync
#define cudaMemcpyDefault hipMemcpyDefault
#define cudaMemcpyDeviceToDevice hipMemcpyDeviceToDevice
#define cudaMemcpyDeviceToHost hipMemcpyDeviceToHost
#define cudaMemcpyHostToDevice hipMemcpyHostToDevice
#define cudaMemcpyPeer hipMemcpyPeer
#define cudaMemGetInfo hipMemGetInfo
#define cudaMemsetAsync hipMemsetAsync
#define cudaOccupancyMaxActiveBlocksPerMultiprocessor hipOccupancyMaxActiveBlocksPerMultiprocessor
#define cudaRuntimeGetVersion hipRuntimeGetVersion
#define cudaSetDevice hipSetDevice
#define cudaStream_t hipStream_t
#define cudaStreamBeginCapture hipStreamBeginCapture
#define cudaStreamCaptureModeThreadLocal hipStreamCaptureModeThreadLocal
#define cudaStreamCaptureStatus hipStreamCaptureStatus
#define cudaStreamCaptureStatusNone hipStreamCaptureStatusNone
#define cudaStreamCreateWithFlags hipStreamCreateWithFlags
#define cudaStreamCreateWithPriority hipStreamCreateWithPriority
#define cudaStreamDestroy hipStreamDestroy
#define cudaStreamEndCapture hipStreamEndCapture
#define cudaStreamIsCapturing hipStreamIsCapturing
#define cudaStreamNonBlocking hipStreamNonBlocking
#define cudaStreamQuery hipStreamQuery
#define cudaStreamSynchronize hipStreamSynchronize
#define cudaStreamWaitEvent hipStreamWaitEvent
#define cudaSuccess hipSuccess
#ifndef __grid_constant__  // HIP 5.2 has none
#define __grid_constant__
#endif

/// HIP's side of `backends/cuda/include/gpu_dialect.hpp`, compiled in its place.
namespace league::cuda {

inline constexpr const char* dialect = "hip";
/// 64 lanes on CDNA: kernels use this name, never a number.
#if defined(__AMDGCN_WAVEFRONT_SIZE)
inline constexpr int warp_size = __AMDGCN_WAVEFRONT_SIZE;
#else
inline constexpr int warp_size = 64;
#endif

/// In HIP the second launch bound counts warps per SIMD unit, which scratch memory may prevent: left to the compiler.
constexpr int launch_bound(int /*blocks*/) { return 1; }

/// Replaces `hipLaunchHostFunc`, which HIP 5.2 declares but does not define.
inline hipError_t launch_host_function(hipStream_t stream, void (*function)(void*), void* data) {
  struct Call {
    void (*function)(void*);
    void* data;
  };
  const auto run = [](hipStream_t, hipError_t, void* call) {
    const std::unique_ptr<Call> mine(static_cast<Call*>(call));
    mine->function(mine->data);
  };
  return hipStreamAddCallback(stream, run, new Call{function, data}, 0);
}

template <class T>
__device__ T shuffle_down(T value, int offset, int width = warp_size) {
  return __shfl_down(value, static_cast<unsigned>(offset), width);
}
template <class T>
__device__ T shuffle_xor(T value, int mask, int width = warp_size) {
  return __shfl_xor(value, mask, width);
}
template <class T>
__device__ void store_streaming(T* address, T value) {
  *address = value;
}

inline std::size_t max_scratch(const cudaDeviceProp& properties) { return properties.sharedMemPerBlock; }
inline cudaError_t allow_scratch(const void*, int) { return cudaSuccess; }
inline cudaError_t prefer_scratch(const void*) { return cudaSuccess; }

__device__ inline void trap() { abort(); }

__device__ inline unsigned load_acquire(const unsigned* flag) {
  return __hip_atomic_load(flag, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM);
}
__device__ inline void store_release(unsigned* flag, unsigned value) {
  __hip_atomic_store(flag, value, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
}

/// Replaces `wall_clock64`, which HIP 5.2 only has in the device pass. 100 MHz on CDNA.
__device__ inline std::uint64_t clock_ns() { return __builtin_amdgcn_s_memrealtime() * 10; }

inline cudaError_t instantiate(cudaGraphExec_t* executable, cudaGraph_t graph) {
  return hipGraphInstantiate(executable, graph, nullptr, nullptr, 0);
}
inline cudaError_t upload_graph(cudaGraphExec_t, cudaStream_t) { return cudaSuccess; }

inline const char* kernel_name(const void* kernel) {
  const char* name = hipKernelNameRefByPtr(kernel, nullptr);
  return name == nullptr ? "" : name;
}

inline cudaError_t prefetch(const void* data, std::size_t bytes, int device, cudaStream_t stream) {
  return hipMemPrefetchAsync(data, bytes, device, stream);
}

inline void push_profiler_range(const char*) {}
inline void pop_profiler_range() {}

}  // namespace league::cuda
