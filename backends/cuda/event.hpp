// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "backends/cuda/cuda.hpp"

namespace league::cuda {

/// The event of a stream. Its wait sleeps: the processor is free for threads that prepare input.
class StreamEvent final : public QueueEvent {
 public:
  StreamEvent(const Queue& queue, cudaStream_t stream, Ranks& ranks) : queue_(queue), stream_(stream), ranks_(ranks) {
    check(cudaSetDevice(queue_.device().index));
    check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming | cudaEventBlockingSync));
  }
  ~StreamEvent() override { static_cast<void>(cudaEventDestroy(event_)); }
  void record() override {
    check(cudaSetDevice(queue_.device().index));
    check(cudaEventRecord(event_, stream_));
  }
  void wait() override {
    // As in `fence`: another rank may have failed.
    while (!ranks_.place().alone() && cudaEventQuery(event_) == cudaErrorNotReady) ranks_.check();
    check(cudaEventSynchronize(event_));
  }

 private:
  const Queue& queue_;
  cudaStream_t stream_;
  Ranks& ranks_;
  cudaEvent_t event_ = nullptr;
};

}  // namespace league::cuda
