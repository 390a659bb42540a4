// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <array>
#include <cstring>

#include "algorithms/split.hpp"
#include "algorithms/vector_add/cuda_add.hpp"
#include "algorithms/vector_add/vector_add.hpp"

// The same kernels on memory that is not the device's own: managed pages, and chunks streamed from pinned host memory.
namespace league::cuda::vector_add {

/// Managed arrays that lie on the host before every compute: their pages move by faults, or by a prefetch that is
/// timed.
template <class T, Kernel kernel>
class Unified final : public Part {
 public:
  Unified(const VectorAdd& problem, const Context& context, const Shard& shard)
      : Part(context, shard),
        prefetch_(problem.memory == VectorAdd::Memory::unified_prefetch),
        host_a_(problem.a.values<T>(rows().begin, rows().end)),
        host_b_(problem.b.values<T>(rows().begin, rows().end)) {
    require_managed(context, shard, 3 * rows().size() * std::int64_t{sizeof(T)});
    for (Array<T>* array : {&sum_, &a_, &b_}) *array = Array<T>::managed(queue(), rows().size());
    output(sum_, 0);
  }
  Launch configure(Launch launch) override { return launch_ = vector_add::configure<T, kernel>(launch, rows().size()); }
  [[nodiscard]] Timing timing() const override { return {.reset_each = true, .host_clock = true}; }
  void reset() override {
    queue().fence();
    std::memset(sum_.data(), 0xff, sum_.bytes());
    std::ranges::copy(host_a_, a_.data());
    std::ranges::copy(host_b_, b_.data());
  }
  void compute(Stages& stages) override {
    if (prefetch_)
      stages.stage(queue(), "prefetch", [&] {
        for (Array<T>* array : {&sum_, &a_, &b_}) array->prefetch();
      });
    stages.stage(queue(), "add",
                 [&] { add<T, kernel>(launch_, stream(queue()), rows().size(), a_.data(), b_.data(), sum_.data()); });
  }

 private:
  bool prefetch_;
  std::span<const T> host_a_, host_b_;
  Launch launch_;
  Array<T> sum_, a_, b_;
};

/// From pinned host memory to pinned host memory: chunks are copied in, added and copied back, in turn on several
/// streams. A traced pass runs them one after another on the queue, which gives the time of each stage.
template <class T, Kernel kernel>
class Streamed final : public Part {
 public:
  static constexpr int streams = 4;
  static constexpr std::int64_t chunk_bytes = std::int64_t{16} << 20;

  Streamed(const VectorAdd& problem, const Context& context, const Shard& shard)
      : Part(context, shard),
        host_a_(problem.a.values<T>(rows().begin, rows().end)),
        host_b_(problem.b.values<T>(rows().begin, rows().end)),
        host_sum_(context.runtime.host_memory(), dtype_of<T>, {rows().size()}),
        chunk_(std::min(rows().size(), chunk_bytes / std::int64_t{sizeof(T)})) {
    for (Lane& lane : lanes_) lane = Lane(queue(), chunk_);
    stream(queue());
    check(cudaEventCreateWithFlags(&begun_, cudaEventDisableTiming));
  }
  ~Streamed() override { static_cast<void>(cudaEventDestroy(begun_)); }

  Launch configure(Launch launch) override { return launch_ = vector_add::configure<T, kernel>(launch, chunk_); }
  [[nodiscard]] Timing timing() const override { return {.reset_each = true, .host_clock = true}; }
  void reset() override {
    if (!host_sum_.bytes().empty()) std::memset(host_sum_.bytes().data(), 0xff, host_sum_.bytes().size());
    for (Lane& lane : lanes_) lane.sum.poison();
  }
  void compute(Stages& stages) override {
    const cudaStream_t main = stream(queue());
    check(cudaEventRecord(begun_, main));
    for (Lane& lane : lanes_) check(cudaStreamWaitEvent(lane.stream, begun_, 0));
    std::int64_t turn = 0;
    for (std::int64_t first = 0; first < rows().size(); first += chunk_, ++turn) {
      Lane& lane = lanes_[static_cast<std::size_t>(turn % streams)];
      chunk(stages, lane, stages.traced() ? main : lane.stream, first, std::min(chunk_, rows().size() - first));
    }
    for (Lane& lane : lanes_) {
      check(cudaEventRecord(lane.done, lane.stream));
      check(cudaStreamWaitEvent(main, lane.done, 0));
    }
  }
  void download(const Outputs& outputs) override {
    queue().fence();
    const auto to = outputs.at(0).values.values<T>(rows().begin, rows().end);
    if (!to.empty()) std::memcpy(to.data(), host_sum_.values<T>().data(), to.size_bytes());
  }

 private:
  /// A stream and the device memory of one chunk.
  struct Lane {
    Lane() = default;
    Lane(Queue& queue, std::int64_t size) : sum(queue, size), a(queue, size), b(queue, size) {
      cuda::stream(queue);
      check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
      check(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
    }
    Lane(Lane&& other) noexcept { *this = std::move(other); }
    Lane& operator=(Lane&& other) noexcept {
      std::swap(stream, other.stream);
      std::swap(done, other.done);
      std::swap(sum, other.sum);
      std::swap(a, other.a);
      std::swap(b, other.b);
      return *this;
    }
    ~Lane() {
      if (stream != nullptr) static_cast<void>(cudaStreamDestroy(stream));
      if (done != nullptr) static_cast<void>(cudaEventDestroy(done));
    }
    cudaStream_t stream = nullptr;
    cudaEvent_t done = nullptr;
    Array<T> sum, a, b;
  };

  void chunk(Stages& stages, Lane& lane, cudaStream_t stream, std::int64_t first, std::int64_t count) {
    const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(T);
    stages.stage(queue(), "copy in", [&] {
      check(cudaMemcpyAsync(lane.a.data(), host_a_.data() + first, bytes, cudaMemcpyHostToDevice, stream));
      check(cudaMemcpyAsync(lane.b.data(), host_b_.data() + first, bytes, cudaMemcpyHostToDevice, stream));
    });
    stages.stage(queue(), "add",
                 [&] { add<T, kernel>(launch_, stream, count, lane.a.data(), lane.b.data(), lane.sum.data()); });
    stages.stage(queue(), "copy out", [&] {
      check(cudaMemcpyAsync(host_sum_.values<T>().data() + first, lane.sum.data(), bytes, cudaMemcpyDeviceToHost,
                            stream));
    });
  }

  std::span<const T> host_a_, host_b_;
  HostArray host_sum_;
  std::int64_t chunk_;
  Launch launch_;
  cudaEvent_t begun_ = nullptr;
  std::array<Lane, streams> lanes_;
};

}  // namespace league::cuda::vector_add
