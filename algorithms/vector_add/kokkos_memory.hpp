// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "algorithms/split.hpp"
#include "algorithms/vector_add/kokkos_add.hpp"
#include "algorithms/vector_add/vector_add.hpp"

// The same kernels on memory that is not the device's own: shared pages, and chunks streamed from pinned host memory.
namespace league::kokkos::vector_add {

inline void require_gpu() {
  if (!on_gpu) throw Unsupported("a CPU has one memory: nothing to share or to stream");
}

/// Shared arrays that lie on the host before every compute: their pages move by faults.
template <class T, Kernel kernel>
class Unified final : public Part {
 public:
  using Shared = Kokkos::View<T*, Kokkos::LayoutRight, Kokkos::SharedSpace>;

  Unified(const VectorAdd& problem, const Context& context, const Shard& shard)
      : Part(context, shard),
        exec_(instance(context.runtime, queue())),
        host_a_(problem.a.values<T>(rows().begin, rows().end)),
        host_b_(problem.b.values<T>(rows().begin, rows().end)) {
    require_gpu();
    if (problem.memory == VectorAdd::Memory::unified_prefetch)
      throw Unsupported("Kokkos has no prefetch of shared memory");
    require_managed(context, shard, 3 * rows().size() * std::int64_t{sizeof(T)});
    for (Shared* view : {&sum_, &a_, &b_})
      *view = Shared(Kokkos::view_alloc(Kokkos::WithoutInitializing, "vector_add/shared"), host_a_.size());
  }
  Launch configure(Launch launch) override {
    return launch_ = vector_add::configure<T, kernel>(launch, queue(), rows().size());
  }
  [[nodiscard]] Timing timing() const override { return {.reset_each = true, .host_clock = true}; }
  void reset() override {
    queue().fence();
    std::memset(static_cast<void*>(sum_.data()), 0xff, host_a_.size_bytes());
    std::ranges::copy(host_a_, a_.data());
    std::ranges::copy(host_b_, b_.data());
  }
  void compute(Stages& stages) override {
    stages.stage(queue(), "add", [&] { add<T, kernel>(exec_, launch_, a_, b_, sum_); });
  }
  void download(const Outputs& outputs) override {
    queue().fence();
    std::copy_n(sum_.data(), host_a_.size(), outputs.at(0).values.values<T>(rows().begin, rows().end).data());
  }

 private:
  Exec exec_;
  std::span<const T> host_a_, host_b_;
  Launch launch_;
  Shared sum_, a_, b_;
};

/// From pinned host memory to pinned host memory: chunks are copied in, added and copied back, in turn on several
/// instances of the same device. A traced pass runs them one after another on the queue, which gives the time of each
/// stage.
template <class T, Kernel kernel>
class Streamed final : public Part {
 public:
  static constexpr std::int64_t chunk_bytes = std::int64_t{16} << 20;

  Streamed(const VectorAdd& problem, const Context& context, const Shard& shard)
      : Part(context, shard),
        exec_(instance(context.runtime, queue())),
        host_a_(problem.a.values<T>(rows().begin, rows().end)),
        host_b_(problem.b.values<T>(rows().begin, rows().end)),
        host_sum_(context.runtime.host_memory(), dtype_of<T>, {rows().size()}),
        chunk_(std::min(rows().size(), chunk_bytes / std::int64_t{sizeof(T)})) {
    require_gpu();
    for (const Exec& exec : Kokkos::Experimental::partition_space(exec_, 1, 1, 1, 1)) lanes_.emplace_back(exec, chunk_);
  }
  Launch configure(Launch launch) override {
    return launch_ = vector_add::configure<T, kernel>(launch, queue(), chunk_);
  }
  [[nodiscard]] Timing timing() const override { return {.reset_each = true, .host_clock = true}; }
  void reset() override {
    if (!host_sum_.bytes().empty()) std::memset(host_sum_.bytes().data(), 0xff, host_sum_.bytes().size());
    for (Lane& lane : lanes_) lane.sum.poison();
    fence();
  }
  void compute(Stages& stages) override {
    std::size_t turn = 0;
    for (std::int64_t first = 0; first < rows().size(); first += chunk_, ++turn) {
      Lane& lane = lanes_[turn % lanes_.size()];
      chunk(stages, lane, stages.traced() ? exec_ : lane.exec, first, std::min(chunk_, rows().size() - first));
    }
  }
  void fence() override {
    for (const Lane& lane : lanes_) lane.exec.fence("vector_add/streamed");
    Part::fence();
  }
  void download(const Outputs& outputs) override {
    fence();
    std::ranges::copy(host_sum_.values<T>(), outputs.at(0).values.values<T>(rows().begin, rows().end).begin());
  }

 private:
  /// An instance and the device memory of one chunk.
  struct Lane {
    Lane(const Exec& instance, std::int64_t size)
        : exec(instance),
          sum(exec, "vector_add/sum", size),
          a(exec, "vector_add/a", size),
          b(exec, "vector_add/b", size) {}
    Exec exec;
    Array<T> sum, a, b;
  };

  void chunk(Stages& stages, Lane& lane, const Exec& exec, std::int64_t first, std::int64_t count) {
    using Host = Kokkos::View<const T*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
    using HostOut = Kokkos::View<T*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
    const std::pair<std::int64_t, std::int64_t> part{0, count};
    const auto a = Kokkos::subview(lane.a.view(), part), b = Kokkos::subview(lane.b.view(), part);
    const auto sum = Kokkos::subview(lane.sum.view(), part);
    const auto size = static_cast<std::size_t>(count);
    stages.stage(queue(), "copy in", [&] {
      Kokkos::deep_copy(exec, a, Host(host_a_.data() + first, size));
      Kokkos::deep_copy(exec, b, Host(host_b_.data() + first, size));
    });
    stages.stage(queue(), "add", [&] { add<T, kernel>(exec, launch_, a, b, sum); });
    stages.stage(queue(), "copy out",
                 [&] { Kokkos::deep_copy(exec, HostOut(host_sum_.values<T>().data() + first, size), sum); });
  }

  Exec exec_;
  std::span<const T> host_a_, host_b_;
  HostArray host_sum_;
  std::int64_t chunk_;
  Launch launch_;
  std::vector<Lane> lanes_;
};

}  // namespace league::kokkos::vector_add
