// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "backends/cuda/cuda.hpp"
#include "backends/cuda/event.hpp"
#include "backends/cuda/graph.hpp"
#include "backends/cuda/management.hpp"
#include "backends/cuda/peers.hpp"
#include "backends/cuda/pinned_memory.hpp"

namespace league::cuda {
namespace {

/// A stream with its time marks. `hold` submits a host function that returns at `release` or after a timeout, because
/// the host may block before `release`: when the stream's queue is full, or in a wait for the stream.
class StreamQueue final : public Queue {
 public:
  StreamQueue(Device device, int index, Ranks& ranks) : Queue(device, index), ranks_(ranks) {
    check(cudaSetDevice(device.index));
    int lowest = 0, highest = 0;
    check(cudaDeviceGetStreamPriorityRange(&lowest, &highest));
    // Communication goes first: a kernel beside it may have enough blocks to fill the device for its whole time.
    check(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, index == 0 ? lowest : highest));
    check(cudaEventCreateWithFlags(&order_, cudaEventDisableTiming));
  }
  ~StreamQueue() override {
    held_.store(false);
    static_cast<void>(cudaSetDevice(device().index));
    for (cudaEvent_t event : events_) static_cast<void>(cudaEventDestroy(event));
    static_cast<void>(cudaEventDestroy(order_));
    static_cast<void>(cudaStreamDestroy(stream_));
  }

  void fence() override {
    check(cudaSetDevice(device().index));
    // Submitted work may wait for another rank, which may have failed.
    while (!ranks_.place().alone() && cudaStreamQuery(stream_) == cudaErrorNotReady) ranks_.check();
    check(cudaStreamSynchronize(stream_));
  }
  /// `other` is a StreamQueue too: all queues are of one backend.
  void wait_for(Queue& other) override {
    auto& first = static_cast<StreamQueue&>(other);
    check(cudaSetDevice(first.device().index));
    check(cudaEventRecord(first.order_, first.stream_));
    check(cudaSetDevice(device().index));
    check(cudaStreamWaitEvent(stream_, first.order_, 0));
  }
  [[nodiscard]] std::unique_ptr<QueueEvent> make_event() override {
    return std::make_unique<StreamEvent>(*this, stream_, ranks_);
  }
  int mark() override {
    check(cudaSetDevice(device().index));
    if (used_ == events_.size()) check(cudaEventCreate(&events_.emplace_back()));
    check(cudaEventRecord(events_[used_], stream_));
    return static_cast<int>(used_++);
  }
  double seconds(int from, int to) override {
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, events_.at(static_cast<std::size_t>(from)),
                               events_.at(static_cast<std::size_t>(to))));
    return static_cast<double>(milliseconds) * 1e-3;
  }
  void clear_marks() override { used_ = 0; }
  void hold() override {
    check(cudaSetDevice(device().index));
    held_.store(true);
    check(cudaLaunchHostFunc(stream_, [](void* queue) { static_cast<StreamQueue*>(queue)->wait_for_release(); }, this));
  }
  bool release() override { return held_.exchange(false); }
  void push_range(const char* name) override { push_profiler_range(name); }
  void pop_range() override { pop_profiler_range(); }
  [[nodiscard]] void* handle() const override { return stream_; }

 private:
  void wait_for_release() {
    using std::chrono::steady_clock;
    const auto deadline = steady_clock::now() + std::chrono::seconds(1);
    while (held_.load()) {
      if (steady_clock::now() > deadline) held_.store(false);
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }
  Ranks& ranks_;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t order_ = nullptr;  ///< event for waits of other queues
  std::vector<cudaEvent_t> events_;
  std::size_t used_ = 0;
  std::atomic<bool> held_ = false;
};

std::string version_text(int number) {
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

/// "0000:3b:00.0"
std::string bus_id(const cudaDeviceProp& properties) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%04x:%02x:%02x.0", properties.pciDomainID, properties.pciBusID,
                properties.pciDeviceID);
  return text.data();
}

DeviceInfo describe(int index, const Management& management) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, index));
  DeviceInfo info{.device = {DeviceKind::gpu, index, 1}, .name = properties.name};
  info.memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem);
  info.llc_bytes = properties.l2CacheSize;
  info.facts = {{"multiprocessors", std::to_string(properties.multiProcessorCount)},
                {"compute_capability", std::to_string(properties.major) + "." + std::to_string(properties.minor)},
                {"bus_id", bus_id(properties)}};
  if (properties.integrated != 0) info.facts.emplace_back("integrated", "yes");  // it has no memory of its own
  for (auto& fact : management.facts(bus_id(properties))) info.facts.push_back(std::move(fact));
  return info;
}

/// The energy of one GPU.
class BoardEnergy final : public EnergyCounter {
 public:
  BoardEnergy(const Management& management, std::string bus_id) : management_(management), bus_id_(std::move(bus_id)) {}
  [[nodiscard]] std::string name() const override { return std::string(Management::name()) + ", board"; }
  EnergyReading read() override {
    if (const auto reading = management_.energy(bus_id_)) return *reading;
    throw std::runtime_error(name() + ": the energy of " + bus_id_ + " cannot be read any more");
  }

 private:
  const Management& management_;
  std::string bus_id_;
};

/// All visible GPUs, with peer access between them where available.
class Gpus final : public Backend {
 public:
  explicit Gpus(Ranks& ranks) : ranks_(ranks) {
    int count = 0;
    if (const cudaError_t status = cudaGetDeviceCount(&count); status != cudaSuccess) {
      unavailable_ = std::string("no GPU answers: ") + cudaGetErrorString(status);
      static_cast<void>(cudaGetLastError());
      return;
    }
    if (count == 0) unavailable_ = "no GPU answers";
    for (int index = 0; index < count; ++index) devices_.push_back(describe(index, management_));
    enable_peers(count);
  }
  [[nodiscard]] std::string version() const override {
    int runtime = 0, driver = 0;
    static_cast<void>(cudaRuntimeGetVersion(&runtime));
    static_cast<void>(cudaDriverGetVersion(&driver));
    return "runtime " + version_text(runtime) + ", driver " + version_text(driver);
  }
  [[nodiscard]] std::string unavailable() const override { return unavailable_; }
  [[nodiscard]] std::vector<DeviceInfo> devices() const override { return devices_; }
  [[nodiscard]] std::unique_ptr<Queue> make_queue(Device device, int index) const override {
    return std::make_unique<StreamQueue>(device, index, ranks_);
  }
  [[nodiscard]] std::unique_ptr<Graph> record(std::span<Queue* const> queues,
                                              const std::function<void()>& body) const override {
    return record_graph(queues, body);
  }
  [[nodiscard]] std::vector<KernelFacts> kernels(std::span<Queue* const> queues,
                                                 const std::function<void()>& body) const override {
    return recorded_kernels(queues, body);
  }
  [[nodiscard]] std::pmr::memory_resource* pinned_memory() override { return devices_.empty() ? nullptr : &pinned_; }
  [[nodiscard]] std::int64_t free_memory_bytes(Device device) const override {
    std::size_t free = 0, total = 0;
    check(cudaSetDevice(device.index));
    check(cudaMemGetInfo(&free, &total));
    return static_cast<std::int64_t>(free);
  }
  [[nodiscard]] Facts readings(Device device) const override { return management_.readings(bus_id_of(device)); }
  [[nodiscard]] std::vector<MetricValue> sample_metrics(Device device) const override {
    if (device.kind == DeviceKind::host) return {};
    return management_.sample_metrics(bus_id_of(device));
  }
  [[nodiscard]] std::unique_ptr<EnergyCounter> energy_counter(Device device) const override {
    const std::string bus_id = bus_id_of(device);
    if (!management_.energy(bus_id))
      throw Unsupported(std::string(Management::name()) + ": no energy counter of this GPU can be read");
    return std::make_unique<BoardEnergy>(management_, bus_id);
  }

 private:
  [[nodiscard]] std::string bus_id_of(Device device) const {
    for (const auto& [key, value] : devices_.at(static_cast<std::size_t>(device.index)).facts)
      if (key == "bus_id") return value;
    return {};
  }
  void enable_peers(int count) {
    for (int from = 0; from < count; ++from) {
      int peers = 0;
      std::string broken;
      for (int to = 0; to < count; ++to) {
        const PeerAccess access = from == to ? PeerAccess::none : peer_access(from, to);
        if (access == PeerAccess::works) ++peers;
        if (access == PeerAccess::broken) broken += (broken.empty() ? "" : ",") + std::to_string(to);
      }
      Facts& facts = devices_[static_cast<std::size_t>(from)].facts;
      facts.emplace_back("peers", std::to_string(peers));
      if (!broken.empty()) facts.emplace_back("broken_peers", broken);
    }
  }
  Ranks& ranks_;
  Management management_;
  std::string unavailable_;
  std::vector<DeviceInfo> devices_;
  PinnedMemory pinned_;
};

const RegisterBackend registered{dialect, 1, [](const Runtime& runtime) -> std::unique_ptr<Backend> {
                                   return std::make_unique<Gpus>(runtime.ranks());
                                 }};

}  // namespace

void check(cudaError_t status, std::source_location where) {
  if (status == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());
  const std::string what = std::string(dialect) + ": " + cudaGetErrorString(status) + " (" + where.file_name() + ":" +
                           std::to_string(where.line()) + ")";
  if (status == cudaErrorLaunchOutOfResources)
    throw Unsupported("this kernel needs too many registers for such a block: " + what);
  if (status == cudaErrorMemoryAllocation) throw Unsupported("out of device memory: " + what);
  throw std::runtime_error(what);
}

cudaStream_t stream(Queue& queue) {
  check(cudaSetDevice(queue.device().index));
  return static_cast<cudaStream_t>(queue.handle());
}

}  // namespace league::cuda
