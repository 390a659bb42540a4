// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <tuple>

#include "algorithms/drivers/binding.hpp"
#include "algorithms/drivers/split.hpp"

// One-pass kernels on managed or host memory: the same kernels and array types as for device memory.
namespace league {

template <class Pass, class... Views>
struct Kernel;

/// The effective launch of a kernel on `rows` rows.
template <class K>
Launch resolve_pass(const K& kernel, Queue& queue, Launch launch, std::int64_t rows) {
  if (kernel.library == nullptr) return K::Pass::resolve(queue, launch, kernel.share, rows);
  if (launch != Launch{}) throw Unsupported(std::string(kernel.library) + " chooses its own launch");
  return {};
}

/// Arrays in managed memory that are resident on the host before every compute: pages migrate by faults, or by a timed
/// prefetch.
template <class K>
class UnifiedShard;
template <class Pass, class... Views>
class UnifiedShard<Kernel<Pass, Views...>> final : public IndependentShard {
 public:
  UnifiedShard(const Problem& problem, const Context& context, const Shard& shard, const Kernel<Pass, Views...>& kernel,
               const std::vector<std::string>& names, bool prefetch)
      : IndependentShard(context, shard),
        kernel_(kernel),
        prefetch_(prefetch),
        bindings_(bind<Views...>(problem, context, shard, names)) {
    std::int64_t bytes = 0;
    each([&](auto& array, const Binding& binding) { bytes += binding.size * value_bytes(array); });
    require_managed(bytes);
    if (context.dry) return;
    each([&](auto& array, const Binding& binding) {
      array = std::remove_reference_t<decltype(array)>::managed(runtime(), queue(), binding.name, binding.size);
      if (!binding.input) output(array, binding.index);
    });
  }
  Launch configure(Launch launch) override { return launch_ = resolve_pass(kernel_, queue(), launch, rows().size()); }
  [[nodiscard]] Timing timing() const override { return {.reset_each = true, .host_clock = true}; }
  void reset() override {
    queue().fence();
    each([&]<class Array>(Array& array, const Binding& binding) {
      if (binding.input)
        std::ranges::copy(binding.template values<typename Array::value_type>(), array.data());
      else
        std::memset(static_cast<void*>(array.data()), 0xff,
                    static_cast<std::size_t>(binding.size * value_bytes(array)));
    });
  }
  void compute(Stages& stages) override {
    if (prefetch_) {
      const auto stage = stages.scope(queue(), "prefetch");
      each([](auto& array, const Binding&) {
        if constexpr (requires { array.prefetch(); }) array.prefetch();
      });
    }
    const auto stage = stages.scope(queue(), kernel_.stage);
    std::apply([&](auto&... arrays) { kernel_.run(Pass(runtime(), queue(), launch_, rows()), view<Views>(arrays)...); },
               arrays_);
  }

 private:
  template <class Array>
  static std::int64_t value_bytes(const Array&) {
    return static_cast<std::int64_t>(sizeof(typename Array::value_type));
  }
  template <class Body>
  void each(const Body& body) {
    [&]<std::size_t... i>(std::index_sequence<i...>) {
      (body(std::get<i>(arrays_), bindings_[i]), ...);
    }(std::index_sequence_for<Views...>());
  }
  void require_managed(std::int64_t bytes) const {
    const std::int64_t free = runtime().free_memory_bytes(queue().device());
    if (bytes > free / 2)
      throw Unsupported("managed memory of " + std::to_string(bytes) + " bytes: more than half of the " +
                        std::to_string(free) + " bytes free on the device is refused");
  }
  Kernel<Pass, Views...> kernel_;
  bool prefetch_;
  std::vector<Binding> bindings_;
  Launch launch_;
  std::tuple<typename Pass::template Array<typename Viewed<Views>::Value>...> arrays_;
};

/// From pinned host memory to pinned host memory: chunks are copied in, processed and copied back, on several queues in
/// turn, so that copies and kernels overlap. A traced pass runs them one after another, to time each stage.
template <class K>
class StreamedShard;
template <class Pass, class... Views>
class StreamedShard<Kernel<Pass, Views...>> final : public IndependentShard {
 public:
  static constexpr int queue_count = 4;
  static constexpr std::int64_t chunk_bytes = std::int64_t{16} << 20;  // per chunk of the widest array

  StreamedShard(const Problem& problem, const Context& context, const Shard& shard,
                const Kernel<Pass, Views...>& kernel, const std::vector<std::string>& names)
      : IndependentShard(context, shard),
        kernel_(kernel),
        bindings_(bind<Views...>(problem, context, shard, names)),
        chunk_(std::min(rows().size(), rows_per_chunk(bindings_))) {
    if (context.dry) return;
    for (int number = 0; number < queue_count; ++number) {
      queues_[static_cast<std::size_t>(number)].queue = &runtime().queue(shard.device, number + 1);
      each(queues_[static_cast<std::size_t>(number)], [&]<class Array>(Array& array, const Binding& binding) {
        Queue& own = *queues_[static_cast<std::size_t>(number)].queue;
        array = Array::make(runtime(), own, binding.name, chunk_ * binding.row_size);
      });
    }
    for (const Binding& binding : bindings_)
      if (!binding.input)
        staging_.emplace_back(runtime().host_memory(), result(binding.index).values.dtype(),
                              std::vector{rows().size(), binding.row_size});
  }
  Launch configure(Launch launch) override { return launch_ = resolve_pass(kernel_, queue(), launch, chunk_); }
  [[nodiscard]] Timing timing() const override { return {.reset_each = true, .host_clock = true}; }
  void reset() override {
    for (HostArray& array : staging_) std::ranges::fill(array.bytes(), std::byte{0xff});
    for (ChunkQueue& one : queues_) {
      each(one, [](auto& array, const Binding& binding) {
        if (!binding.input) array.poison();
      });
      one.queue->fence();
    }
  }
  void compute(Stages& stages) override {
    for (ChunkQueue& one : queues_) one.queue->wait_for(queue());
    std::size_t turn = 0;
    for (std::int64_t first = 0; first < rows().size(); first += chunk_, ++turn)
      chunk(stages, queues_[turn % queues_.size()], {first, std::min(first + chunk_, rows().size())});
    for (ChunkQueue& one : queues_) queue().wait_for(*one.queue);
  }
  void download() override {
    queue().fence();
    std::size_t number = 0;
    for (const Binding& binding : bindings_) {
      if (binding.input) continue;
      const HostArray& from = staging_[number++];
      Output& to = result(binding.index);
      const auto begin =
          static_cast<std::size_t>((rows().begin - to.rows.begin) * binding.row_size) * size_bytes(to.values.dtype());
      std::ranges::copy(from.bytes(), to.values.bytes().begin() + static_cast<std::ptrdiff_t>(begin));
    }
  }

 private:
  /// A queue and the device memory of one chunk.
  struct ChunkQueue {
    Queue* queue = nullptr;
    std::tuple<typename Pass::template Array<typename Viewed<Views>::Value>...> arrays;
  };
  static std::int64_t rows_per_chunk(const std::vector<Binding>& bindings) {
    std::int64_t widest = 1, number = 0;
    constexpr std::array value_bytes{static_cast<std::int64_t>(sizeof(typename Viewed<Views>::Value))...};
    for (const Binding& binding : bindings)
      widest = std::max(widest, binding.row_size * value_bytes[static_cast<std::size_t>(number++)]);
    return std::max<std::int64_t>(chunk_bytes / widest, 1);
  }
  template <class Body>
  void each(ChunkQueue& one, const Body& body) {
    [&]<std::size_t... i>(std::index_sequence<i...>) {
      (body(std::get<i>(one.arrays), bindings_[i]), ...);
    }(std::index_sequence_for<Views...>());
  }
  /// A stage on the queue of a chunk. In a traced pass the main queue waits for it and measures its time.
  template <class Body>
  void stage(Stages& stages, ChunkQueue& one, const char* name, const Body& body) {
    const auto scope = stages.scope(queue(), name);
    if (stages.traced()) one.queue->wait_for(queue());
    body();
    if (stages.traced()) queue().wait_for(*one.queue);
  }
  /// `shard`: rows relative to the shard's first.
  void chunk(Stages& stages, ChunkQueue& one, Range shard) {
    stage(stages, one, "copy in", [&] {
      each(one, [&]<class Array>(Array& array, const Binding& binding) {
        using T = typename Array::value_type;
        if (binding.input)
          array.copy_from(
              binding.host.template values<const T>(binding.rows.begin + shard.begin, binding.rows.begin + shard.end));
      });
    });
    stage(stages, one, kernel_.stage, [&] {
      const Pass on(runtime(), *one.queue, launch_, {rows().begin + shard.begin, rows().begin + shard.end});
      std::apply([&](auto&... arrays) { kernel_.run(on, view<Views>(arrays)...); }, one.arrays);
    });
    stage(stages, one, "copy out", [&] {
      std::size_t number = 0;
      each(one, [&]<class Array>(Array& array, const Binding& binding) {
        using T = typename Array::value_type;
        if (!binding.input) array.copy_to(staging_[number++].template values<T>(shard.begin, shard.end));
      });
    });
  }

  Kernel<Pass, Views...> kernel_;
  std::vector<Binding> bindings_;
  std::int64_t chunk_;  ///< rows
  Launch launch_;
  std::vector<HostArray> staging_;  ///< pinned, one per result
  std::array<ChunkQueue, queue_count> queues_;
};

/// A kernel on one shard, with its arrays in the memory of `placement`.
template <class K>
std::unique_ptr<IndependentShard> place_elsewhere(const Problem& problem, const Context& context, const Shard& shard,
                                                  Placement placement, const K& kernel,
                                                  const std::vector<std::string>& names) {
  if constexpr (K::Pass::has_placements) {
    if (placement == Placement::streamed)
      return std::make_unique<StreamedShard<K>>(problem, context, shard, kernel, names);
    return std::make_unique<UnifiedShard<K>>(problem, context, shard, kernel, names,
                                             placement == Placement::unified_prefetch);
  }
  throw std::logic_error("this backend has no placements");
}

}  // namespace league
