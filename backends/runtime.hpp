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
#include "backends/ranks.hpp"

namespace league {

class HostRecorder;

/// The in-order queue of one device: kernels and copies are put on it, and it times them.
class Queue {
 public:
  explicit Queue(Device device, int lane = 0) : device_(device), lane_(lane) {}
  virtual ~Queue() = default;
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  [[nodiscard]] const Device& device() const { return device_; }
  /// Among the queues of its device.
  [[nodiscard]] int lane() const { return lane_; }
  /// Runs `work`, which puts kernels on this queue: at once, or, on a host that records, whenever the graph is
  /// launched. What the work needs of the host it takes along by value.
  template <class Work>
  void submit(Work&& work) {
    if (recorder_ == nullptr)
      work();
    else
      record(std::forward<Work>(work));
  }
  /// What comes on this queue from now on begins when all is done that `other` has now. Where `other` is being
  /// recorded, so is this queue from then on.
  virtual void wait_for(Queue& other) = 0;
  /// Waits until all that was queued is done. @throws std::runtime_error on a launch or device error
  virtual void fence() = 0;
  /// Puts a time mark on the queue and returns its number.
  virtual int mark() = 0;
  /// Seconds between two marks. @pre both were reached (fence first)
  virtual double seconds(int from, int to) = 0;
  virtual void clear_marks() = 0;
  /// Holds the queue back until `release`, so that a batch is queued whole before its first kernel starts.
  virtual void hold() {}
  /// @returns false if the queue gave up waiting before: something in the batch waits for the queue itself
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
  int lane_;
  HostRecorder* recorder_ = nullptr;
};

/// Work that was recorded once and is launched many times, on the queues that it was recorded from.
class Graph {
 public:
  virtual ~Graph() = default;
  /// Puts the work on the queues, behind all that is there.
  virtual void launch() = 0;
};

class Runtime;

/// One runtime (OpenMP, CUDA, Kokkos) from its start to its end; made and destroyed by `Runtime`.
class Backend {
 public:
  virtual ~Backend() = default;
  [[nodiscard]] virtual std::string version() const { return {}; }
  /// Why nothing can run on it here ("no GPU answers"); empty if it can.
  [[nodiscard]] virtual std::string unavailable() const { return {}; }
  [[nodiscard]] virtual std::vector<DeviceInfo> devices() const { return {}; }
  [[nodiscard]] virtual std::unique_ptr<Queue> make_queue(Device, int /*lane*/) const { return nullptr; }
  /// Records what `body` puts on the queues; null: this runtime has no graphs.
  [[nodiscard]] virtual std::unique_ptr<Graph> record(std::span<Queue* const>, const std::function<void()>&) const {
    return nullptr;
  }
  /// Host memory that the devices read directly; null: ordinary memory will do.
  [[nodiscard]] virtual std::pmr::memory_resource* pinned_memory() { return nullptr; }
  [[nodiscard]] virtual std::int64_t free_memory_bytes(Device) const { return 0; }
  /// Clocks, power, temperature and other readings of now; empty where none can be read.
  [[nodiscard]] virtual std::vector<std::pair<std::string, std::string>> readings(Device) const { return {}; }
  /// Configuration for the record.
  [[nodiscard]] virtual std::vector<std::pair<std::string, std::string>> facts() const { return {}; }
};

using BackendFactory = std::unique_ptr<Backend> (*)(const Runtime&);

/// Makes a backend known. `order`: those that others need (cuda before kokkos) start first.
struct RegisterBackend {
  RegisterBackend(std::string name, int order, BackendFactory start);
};

/// All devices, queues and library handles of the process. Made once by main, and gone before main returns.
class Runtime {
 public:
  /// `ranks` outlives it.
  explicit Runtime(Ranks& ranks);
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  /// The processes of this run.
  [[nodiscard]] Ranks& ranks() const { return ranks_; }
  /// What an OpenMP parallel region gets: all host models and peers use as many threads.
  [[nodiscard]] int host_threads() const { return host_threads_; }
  [[nodiscard]] const std::vector<DeviceInfo>& gpus() const { return gpus_; }
  /// The most that all ranks together can have, each as many.
  [[nodiscard]] int gpus_of_all_ranks() const { return gpus_of_all_ranks_; }
  [[nodiscard]] const DeviceInfo& host() const { return host_; }
  [[nodiscard]] const DeviceInfo& info(Device device) const;
  /// Names of the backends of this build, in their starting order.
  [[nodiscard]] std::vector<std::string> backends() const;
  /// @returns null if this build has no such backend
  [[nodiscard]] const Backend* backend(std::string_view name) const;

  /// Of `count` devices of a kind, over all ranks, those of this one: as many for each. Ranks that see the same GPUs
  /// take them by their number on the host. Host devices share the threads: they exist so that partitioning is tested
  /// without a GPU, and run one after another. @throws Unsupported if there are not as many GPUs, or they cannot be
  /// split evenly
  [[nodiscard]] std::vector<Device> devices(DeviceKind kind, int count) const;
  /// The queue of a device; with a `lane`, another one, that knows nothing of the first but by `Queue::wait_for`.
  [[nodiscard]] Queue& queue(Device device, int lane = 0);
  /// Records what `body` puts on the queues, and on no others but what waits for them and what they wait for again;
  /// nothing of it runs yet. On host devices, which have no launches to save, a launch runs what was submitted.
  [[nodiscard]] std::unique_ptr<Graph> record(std::span<Queue* const> queues, const std::function<void()>& body) const;
  /// Pinned where there is a GPU.
  [[nodiscard]] std::pmr::memory_resource& host_memory();
  [[nodiscard]] std::int64_t free_memory_bytes(Device device) const;
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> readings(Device device) const;

  /// A handle or instance of type T for a device, made at first use and kept: a Kokkos instance, a cuBLAS handle.
  template <class T, class Make>
  T& attachment(Device device, Make&& make, int lane = 0) {
    std::any& slot =
        attachments_[{std::type_index(typeid(T)), static_cast<int>(device.kind), device.index, device.threads, lane}];
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
