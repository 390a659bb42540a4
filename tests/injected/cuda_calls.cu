// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include "tests/injected/failing.hpp"

// Calls of CUDA's run-time library that fail, also those of Kokkos: the library is static, so that the linker puts each
// __wrap_X of this file (tests/tests.cmake) in the place of X in league_faults. Nothing fails unless the library of
// failing.hpp is preloaded.
namespace {

bool is_to_fail(league::injected::Kind kind) {
  using Fails = int (*)(int);
  static const auto asked = reinterpret_cast<Fails>(dlsym(RTLD_DEFAULT, "league_injected_fails"));
  return asked != nullptr && asked(kind) != 0;
}

thread_local cudaError_t last_error = cudaSuccess;  // of a call that failed here

template <auto* real, class... Arguments>
cudaError_t call(cudaError_t error, Arguments... arguments) {
  return is_to_fail(league::injected::cuda) ? last_error = error : real(arguments...);
}
template <auto* real, class... Arguments>
cudaError_t call(Arguments... arguments) {
  return call<real>(cudaErrorUnknown, arguments...);
}
/// The error is the one of the last call that failed.
template <auto* real>
cudaError_t last() {
  const cudaError_t here = last_error;
  last_error = cudaSuccess;
  return here == cudaSuccess ? real() : here;
}

}  // namespace

/// Writes where it may not (cuda_illegal.cu).
void league_launch_illegal(cudaStream_t stream);

namespace {
template <auto* real, class... Arguments>
cudaError_t launch(cudaStream_t stream, Arguments... arguments) {
  if (is_to_fail(league::injected::illegal)) league_launch_illegal(stream);
  return call<real>(cudaErrorLaunchFailure, arguments...);
}
}  // namespace

extern "C" {

decltype(cudaGetLastError) __real_cudaGetLastError;
cudaError_t __wrap_cudaGetLastError() { return last<__real_cudaGetLastError>(); }

decltype(cudaMalloc) __real_cudaMalloc;
cudaError_t __wrap_cudaMalloc(void** data, std::size_t bytes) {
  return call<__real_cudaMalloc>(cudaErrorMemoryAllocation, data, bytes);
}
decltype(cudaMallocManaged) __real_cudaMallocManaged;
cudaError_t __wrap_cudaMallocManaged(void** data, std::size_t bytes, unsigned flags) {
  return call<__real_cudaMallocManaged>(cudaErrorMemoryAllocation, data, bytes, flags);
}
decltype(cudaHostAlloc) __real_cudaHostAlloc;
cudaError_t __wrap_cudaHostAlloc(void** data, std::size_t bytes, unsigned flags) {
  return call<__real_cudaHostAlloc>(cudaErrorMemoryAllocation, data, bytes, flags);
}
decltype(cudaHostRegister) __real_cudaHostRegister;
cudaError_t __wrap_cudaHostRegister(void* data, std::size_t bytes, unsigned flags) {
  return call<__real_cudaHostRegister>(cudaErrorMemoryAllocation, data, bytes, flags);
}
decltype(cudaMemcpyAsync) __real_cudaMemcpyAsync;
cudaError_t __wrap_cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                                   cudaStream_t stream) {
  return call<__real_cudaMemcpyAsync>(to, from, bytes, kind, stream);
}
decltype(cudaMemcpyPeer) __real_cudaMemcpyPeer;
cudaError_t __wrap_cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, std::size_t bytes) {
  if (is_to_fail(league::injected::peers)) return cudaSuccess;
  return call<__real_cudaMemcpyPeer>(to, to_device, from, from_device, bytes);
}
decltype(cudaMemsetAsync) __real_cudaMemsetAsync;
cudaError_t __wrap_cudaMemsetAsync(void* data, int value, std::size_t bytes, cudaStream_t stream) {
  return call<__real_cudaMemsetAsync>(data, value, bytes, stream);
}
decltype(cudaMemGetInfo) __real_cudaMemGetInfo;
cudaError_t __wrap_cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  return call<__real_cudaMemGetInfo>(free, total);
}
decltype(cudaSetDevice) __real_cudaSetDevice;
cudaError_t __wrap_cudaSetDevice(int device) { return call<__real_cudaSetDevice>(device); }
decltype(cudaGetDeviceCount) __real_cudaGetDeviceCount;
cudaError_t __wrap_cudaGetDeviceCount(int* count) { return call<__real_cudaGetDeviceCount>(count); }
decltype(cudaFuncSetAttribute) __real_cudaFuncSetAttribute;
cudaError_t __wrap_cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute, int value) {
  return call<__real_cudaFuncSetAttribute>(function, attribute, value);
}

decltype(cudaStreamCreateWithFlags) __real_cudaStreamCreateWithFlags;
cudaError_t __wrap_cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return call<__real_cudaStreamCreateWithFlags>(stream, flags);
}
decltype(cudaStreamSynchronize) __real_cudaStreamSynchronize;
cudaError_t __wrap_cudaStreamSynchronize(cudaStream_t stream) { return call<__real_cudaStreamSynchronize>(stream); }
decltype(cudaStreamWaitEvent) __real_cudaStreamWaitEvent;
cudaError_t __wrap_cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  return call<__real_cudaStreamWaitEvent>(stream, event, flags);
}
decltype(cudaEventCreateWithFlags) __real_cudaEventCreateWithFlags;
cudaError_t __wrap_cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return call<__real_cudaEventCreateWithFlags>(event, flags);
}
decltype(cudaEventCreate) __real_cudaEventCreate;
cudaError_t __wrap_cudaEventCreate(cudaEvent_t* event) { return call<__real_cudaEventCreate>(event); }
decltype(cudaEventRecord) __real_cudaEventRecord;
cudaError_t __wrap_cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return call<__real_cudaEventRecord>(event, stream);
}
decltype(cudaEventElapsedTime) __real_cudaEventElapsedTime;
cudaError_t __wrap_cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  return call<__real_cudaEventElapsedTime>(milliseconds, begin, end);
}

decltype(cudaStreamBeginCapture) __real_cudaStreamBeginCapture;
cudaError_t __wrap_cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return call<__real_cudaStreamBeginCapture>(stream, mode);
}
decltype(cudaStreamEndCapture) __real_cudaStreamEndCapture;
cudaError_t __wrap_cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return call<__real_cudaStreamEndCapture>(stream, graph);
}
decltype(cudaGraphInstantiate) __real_cudaGraphInstantiate;
cudaError_t __wrap_cudaGraphInstantiate(cudaGraphExec_t* ready, cudaGraph_t graph, unsigned long long flags) {
  return call<__real_cudaGraphInstantiate>(ready, graph, flags);
}
decltype(cudaGraphLaunch) __real_cudaGraphLaunch;
cudaError_t __wrap_cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream) {
  return call<__real_cudaGraphLaunch>(graph, stream);
}

decltype(cudaLaunchKernelExC) __real_cudaLaunchKernelExC;
cudaError_t __wrap_cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function, void** arguments) {
  return launch<__real_cudaLaunchKernelExC>(config->stream, config, function, arguments);
}
decltype(cudaLaunchKernel) __real_cudaLaunchKernel;
cudaError_t __wrap_cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                                    cudaStream_t stream) {
  return launch<__real_cudaLaunchKernel>(stream, function, grid, block, arguments, shared, stream);
}
#if CUDART_VERSION >= 13000
/// What <<<...>>> calls since CUDA 13.
cudaError_t __real___cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                                      cudaStream_t stream);
cudaError_t __wrap___cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                                      cudaStream_t stream) {
  return launch<__real___cudaLaunchKernel>(stream, kernel, grid, block, arguments, shared, stream);
}
#endif
}
