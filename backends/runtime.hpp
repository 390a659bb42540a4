// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <any>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <memory_resource>
#include <span>
#include <string>
#include <typeindex>
#include <vector>

#include "backends/backend.hpp"
#include "backends/energy.hpp"
#include "backends/kernel_facts.hpp"
#include "backends/metric.hpp"
#include "backends/ranks.hpp"

namespace league {

class HostRecorder;

/// A point in the work of a queue that the host can wait for. A host device is synchronous: nothing to wait for.
class QueueEvent {
 public:
  QueueEvent() = default;
  virtual ~QueueEvent() = default;
  QueueEvent(const QueueEvent&) = delete;
  QueueEvent& operator=(const QueueEvent&) = delete;
  /// The point is after all current work of the queue.
  virtual void record() {}
  /// Waits for the point last recorded. @throws std::runtime_error on a launch or device error
  virtual void wait() {}
};

/// The in-order queue of one device: takes kernels and copies, and times them.
class Queue {
 public:
  explicit Queue(Device device, int index = 0) : device_(device), index_(index) {}
  virtual ~Queue() = default;
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  [[nodiscard]] const Device& device() const { return device_; }
  /// Index among the queues of its device.
  [[nodiscard]] int index() const { return index_; }
  /// Runs `work`, which submits kernels to this queue: at once, or, on a host that records, at every launch of the
  /// graph. It must capture host data by value.
  template <class Work>
  void submit(Work&& work) {
    if (recorder_ == nullptr)
      work();
    else
      record(std::forward<Work>(work));
  }
  /// Later work on this queue waits for all current work of `other`. If `other` is being recorded, this queue is
  /// recorded from then on.
  virtual void wait_for(Queue& other) = 0;
  /// An event of this queue, which outlives it.
  [[nodiscard]] virtual std::unique_ptr<QueueEvent> make_event() { return std::make_unique<QueueEvent>(); }
  /// Waits for all submitted work. @throws std::runtime_error on a launch or device error
  virtual void fence() = 0;
  /// Submits a time mark and returns its number.
  virtual int mark() = 0;
  /// Seconds between two marks. @pre both were reached (fence first)
  virtual double seconds(int from, int to) = 0;
  virtual void clear_marks() = 0;
  /// Holds the queue back until `release`, so that a whole batch is submitted before its first kernel starts.
  virtual void hold() {}
  /// @returns false if the hold timed out before: something in the batch waits for the queue itself
  virtual bool release() { return true; }
  /// Profiler ranges on the host's timeline.
  virtual void push_range(const char*) {}
  virtual void pop_range() {}
  /// The runtime's own handle (cudaStream_t, hipStream_t); null on a host.
  [[nodiscard]] virtual void* handle() const { return nullptr; }

 private:
  friend class HostRecorder;
  void record(std::function<void()> work);
  Device device_;
  int index_;
  HostRecorder* recorder_ = nullptr;
};

/// Work that was recorded once and is launched many times, on the queues that it was recorded from.
class Graph {
 public:
  virtual ~Graph() = default;
  /// Submits the work after all current work of the queues.
  virtual void launch() = 0;
};

class Runtime;

/// One runtime (OpenMP, CUDA, Kokkos) from initialisation to finalisation; owned by `Runtime`.
class Backend {
 public:
  virtual ~Backend() = default;
  [[nodiscard]] virtual std::string version() const { return {}; }
  /// Why it cannot be used here ("no GPU answers"); empty if it can.
  [[nodiscard]] virtual std::string unavailable() const { return {}; }
  [[nodiscard]] virtual std::vector<DeviceInfo> devices() const { return {}; }
  [[nodiscard]] virtual std::unique_ptr<Queue> make_queue(Device, int /*index*/) const { return nullptr; }
  /// Records what `body` submits to the queues; null: this runtime has no graphs.
  [[nodiscard]] virtual std::unique_ptr<Graph> record(std::span<Queue* const>, const std::function<void()>&) const {
    return nullptr;
  }
  /// As `record`, and tells the kernels of the graph, equal launches of one together; empty: it does not tell.
  [[nodiscard]] virtual std::vector<KernelFacts> kernels(std::span<Queue* const>, const std::function<void()>&) const {
    return {};
  }
  /// Pinned host memory; null: ordinary memory is sufficient.
  [[nodiscard]] virtual std::pmr::memory_resource* pinned_memory() { return nullptr; }
  [[nodiscard]] virtual std::int64_t free_memory_bytes(Device) const { return 0; }
  /// Current clocks, power, temperature and other readings; empty if none can be read.
  [[nodiscard]] virtual std::vector<std::pair<std::string, std::string>> readings(Device) const { return {}; }
  /// What is read of a device beside each sample, after its timed part: quickly, and the same metrics each time.
  [[nodiscard]] virtual std::vector<MetricValue> sample_metrics(Device) const { return {}; }
  /// @throws Unsupported with the reason where there is no counter
  [[nodiscard]] virtual std::unique_ptr<EnergyCounter> energy_counter(Device) const {
    throw Unsupported("this backend has no energy counter");
  }
  /// Configuration for the record.
  [[nodiscard]] virtual std::vector<std::pair<std::string, std::string>> facts() const { return {}; }
};

using BackendFactory = std::unique_ptr<Backend> (*)(const Runtime&);

/// Registers a backend. `order`: those needed by others (cuda before kokkos) start first.
struct RegisterBackend {
  RegisterBackend(std::string name, int order, BackendFactory start);
};

/// All devices, queues and library handles of the process. Made once in main, and destroyed before main returns.
class Runtime {
 public:
  /// `ranks` outlives it.
  explicit Runtime(Ranks& ranks);
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  /// The processes of this run.
  [[nodiscard]] Ranks& ranks() const { return ranks_; }
  /// Threads of an OpenMP parallel region; all host models and peers use this number.
  [[nodiscard]] int host_threads() const { return host_threads_; }
  [[nodiscard]] const std::vector<DeviceInfo>& gpus() const { return gpus_; }
  /// Maximum number of GPUs over all ranks, with equally many per rank.
  [[nodiscard]] int gpus_of_all_ranks() const { return gpus_of_all_ranks_; }
  [[nodiscard]] const DeviceInfo& host() const { return host_; }
  [[nodiscard]] const DeviceInfo& info(Device device) const;
  /// Names of the backends of this build, in their starting order.
  [[nodiscard]] std::vector<std::string> backends() const;
  /// @returns null if this build has no such backend
  [[nodiscard]] const Backend* backend(std::string_view name) const;

  /// This rank's share of `count` devices of a kind over all ranks, equally many per rank. Ranks that see the same GPUs
  /// divide them by their index on the host. Host devices share the threads; they exist to test partitioning without a
  /// GPU, and run one after another. @throws Unsupported if there are too few GPUs, or they cannot be split evenly
  [[nodiscard]] std::vector<Device> devices(DeviceKind kind, int count) const;
  /// The queue of a device; those of other indices are independent, ordered only by `Queue::wait_for`.
  [[nodiscard]] Queue& queue(Device device, int index = 0);
  /// Records what `body` submits to the queues, and to queues that fork from and join them, without running it. On host
  /// devices a launch runs the recorded functions.
  [[nodiscard]] std::unique_ptr<Graph> record(std::span<Queue* const> queues, const std::function<void()>& body) const;
  /// The kernels that `body` submits to the queues of GPUs, without running it: what `record` would put into a graph.
  [[nodiscard]] std::vector<KernelFacts> kernels(std::span<Queue* const> queues,
                                                 const std::function<void()>& body) const {
    return gpu_backend_->kernels(queues, body);
  }
  /// Host memory, pinned if there is a GPU.
  [[nodiscard]] std::pmr::memory_resource& host_memory();
  [[nodiscard]] std::int64_t free_memory_bytes(Device device) const;
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> readings(Device device) const;
  /// The metrics of all backends for devices that share a sample: of each the largest value.
  [[nodiscard]] std::vector<MetricValue> sample_metrics(std::span<const Device> devices) const;
  /// The energy of devices of one kind, together; host devices are one host. @pre not empty
  /// @throws Unsupported with the reason where one of them has no counter
  [[nodiscard]] std::unique_ptr<EnergyCounter> energy_counter(std::span<const Device> devices) const;

  /// A handle or instance of type T for a device, created at first use and cached: a Kokkos instance, a cuBLAS handle.
  template <class T, class Make>
  T& attachment(Device device, Make&& make, int index = 0) {
    std::any& slot =
        attachments_[{std::type_index(typeid(T)), static_cast<int>(device.kind), device.index, device.threads, index}];
    if (!slot.has_value()) slot = std::make_shared<T>(make());
    return *std::any_cast<std::shared_ptr<T>&>(slot);
  }

 private:
  struct Started {
    std::string name;
    std::unique_ptr<Backend> backend;
  };
  Ranks& ranks_;
  int host_threads_;
  DeviceInfo host_;
  std::vector<DeviceInfo> gpus_;
  std::vector<Started> started_;  // destroyed last, newest first
  Backend* gpu_backend_ = nullptr;
  bool shares_gpus_ = false;  ///< with other ranks of this host
  int gpus_of_all_ranks_ = 0;
  std::map<std::tuple<int, int, int, int>, std::unique_ptr<Queue>> queues_;
  std::map<std::tuple<std::type_index, int, int, int, int>, std::any> attachments_;
};

}  // namespace league
