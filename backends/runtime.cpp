// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/runtime.hpp"

#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>

#include "backends/host_caches.hpp"
#include "backends/host_limits.hpp"
#include "backends/host_settings.hpp"

namespace league {
namespace {

struct Entry {
  std::string name;
  int order;
  BackendFactory start;
};
std::vector<Entry>& entries() {
  static std::vector<Entry> all;
  return all;
}

}  // namespace

/// Records queues of host devices during its lifetime, and queues that wait for them.
class HostRecorder {
 public:
  explicit HostRecorder(std::span<Queue* const> queues) : queues_(queues.begin(), queues.end()) {
    for (Queue* queue : queues_) queue->recorder_ = this;
  }
  ~HostRecorder() {
    for (Queue* queue : queues_) queue->recorder_ = nullptr;
  }
  HostRecorder(const HostRecorder&) = delete;
  HostRecorder& operator=(const HostRecorder&) = delete;
  void add(std::function<void()> work) { work_.push_back(std::move(work)); }
  [[nodiscard]] std::vector<std::function<void()>> take() { return std::move(work_); }

  /// If `first` is being recorded, `second` is recorded too.
  static void follow(Queue& second, Queue& first) {
    if (first.recorder_ == nullptr || second.recorder_ != nullptr) return;
    second.recorder_ = first.recorder_;
    second.recorder_->queues_.push_back(&second);
  }

 private:
  std::vector<Queue*> queues_;
  std::vector<std::function<void()>> work_;
};

namespace {

/// A host device is synchronous: its queue is empty when a call returns.
class HostQueue final : public Queue {
 public:
  using Queue::Queue;
  void fence() override {}
  void wait_for(Queue& other) override { HostRecorder::follow(*this, other); }
  int mark() override {
    marks_.push_back(std::chrono::steady_clock::now());
    return static_cast<int>(marks_.size()) - 1;
  }
  double seconds(int from, int to) override {
    return std::chrono::duration<double>(marks_.at(static_cast<std::size_t>(to)) -
                                         marks_.at(static_cast<std::size_t>(from)))
        .count();
  }
  void clear_marks() override { marks_.clear(); }

 private:
  std::vector<std::chrono::steady_clock::time_point> marks_;
};

/// Work submitted to the queues of host devices, in order; these run one after another.
class HostGraph final : public Graph {
 public:
  explicit HostGraph(std::vector<std::function<void()>> work) : work_(std::move(work)) {}
  void launch() override {
    for (const auto& work : work_) work();
  }

 private:
  std::vector<std::function<void()>> work_;
};

std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "CPU";
}

/// The threads of a parallel region: by OMP_NUM_THREADS, OMP_THREAD_LIMIT and the processors of this process.
/// Afterwards this is the default of every region and its maximum.
int region_threads() {
  omp_set_dynamic(0);  // it would reduce the number of threads under load
  int threads = 1;
#pragma omp parallel
#pragma omp single
  threads = omp_get_num_threads();
  omp_set_num_threads(threads);
  return threads;
}

DeviceInfo host_info(int threads) {
  DeviceInfo info{.device = {DeviceKind::host, 0, threads}, .name = cpu_name()};
  info.memory_bytes = std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGE_SIZE);
  info.llc_bytes = last_level_cache_bytes(allowed_processors());
  if (info.llc_bytes == 0) info.llc_bytes = std::max(sysconf(_SC_LEVEL3_CACHE_SIZE), 0L);
  info.facts = host_settings();
  info.facts.emplace_back("threads", std::to_string(threads));
  return info;
}

class SumOfCounters final : public EnergyCounter {
 public:
  explicit SumOfCounters(std::vector<std::unique_ptr<EnergyCounter>> counters) : counters_(std::move(counters)) {}
  [[nodiscard]] std::string name() const override {
    return std::to_string(counters_.size()) + " x " + counters_.front()->name();
  }
  EnergyReading read() override {
    EnergyReading sum{.joules = 0, .watts = 0.0};
    for (const auto& counter : counters_) {
      const EnergyReading one = counter->read();
      sum.joules += one.joules;
      if (!one.watts) sum.watts.reset();
      if (sum.watts) *sum.watts += *one.watts;
    }
    return sum;
  }

 private:
  std::vector<std::unique_ptr<EnergyCounter>> counters_;
};

/// Whether another rank of this host sees the same GPUs; false if the launcher binds GPUs to ranks.
bool sees_what_others_see(Ranks& ranks, const std::vector<DeviceInfo>& gpus) {
  if (ranks.place().alone()) return false;
  std::string mine = ranks.place().host;
  for (const DeviceInfo& gpu : gpus)
    for (const auto& [key, value] : gpu.facts)
      if (key == "uuid" || key == "bus_id") mine += " " + value;
  const std::vector<std::string> all = ranks.texts(mine);
  return std::ranges::count(all, mine) > 1;
}

}  // namespace

void Queue::record(std::function<void()> work) { recorder_->add(std::move(work)); }

RegisterBackend::RegisterBackend(std::string name, int order, BackendFactory start) {
  entries().push_back({std::move(name), order, start});
}

Runtime::Runtime(Ranks& ranks) : ranks_(ranks), host_threads_(region_threads()), host_(host_info(host_threads_)) {
  std::ranges::sort(entries(), {}, [](const Entry& entry) { return std::pair(entry.order, entry.name); });
  for (const Entry& entry : entries()) {
    started_.push_back({entry.name, entry.start(*this)});
    Backend& backend = *started_.back().backend;
    for (DeviceInfo& info : backend.devices()) {
      gpus_.push_back(std::move(info));
      gpu_backend_ = &backend;
    }
  }
  shares_gpus_ = sees_what_others_see(ranks_, gpus_);
  const int here = static_cast<int>(gpus_.size()) / (shares_gpus_ ? ranks_.place().local_size : 1);
  gpus_of_all_ranks_ = std::ranges::min(ranks_.values(here)) * ranks_.place().size;
}

Runtime::~Runtime() {
  attachments_.clear();
  queues_.clear();
  while (!started_.empty()) started_.pop_back();
}

const DeviceInfo& Runtime::info(Device device) const {
  return device.kind == DeviceKind::host ? host_ : gpus_.at(static_cast<std::size_t>(device.index));
}

std::vector<std::string> Runtime::backends() const {
  std::vector<std::string> names;
  for (const Started& started : started_) names.push_back(started.name);
  return names;
}

const Backend* Runtime::backend(std::string_view name) const {
  const auto found = std::ranges::find(started_, name, &Started::name);
  return found == started_.end() ? nullptr : found->backend.get();
}

std::vector<Device> Runtime::devices(DeviceKind kind, int count) const {
  const Ranks::Place& place = ranks_.place();
  if (count % place.size != 0)
    throw Unsupported(std::to_string(count) + (count == 1 ? " device" : " devices") + " for " +
                      std::to_string(place.size) + " ranks: each takes as many");
  const int here = count / place.size;
  const int first = kind == DeviceKind::gpu && shares_gpus_ ? place.local_rank * here : 0;
  if (kind == DeviceKind::gpu && count > gpus_of_all_ranks_)  // the same on all ranks
    throw Unsupported("needs " + std::to_string(count) + " GPUs, " + std::to_string(gpus_of_all_ranks_) + " here");
  std::vector<Device> devices;
  for (int index = first; index < first + here; ++index)
    devices.push_back({kind, index, kind == DeviceKind::gpu ? 1 : std::max(1, host_threads_ / here)});
  return devices;
}

Queue& Runtime::queue(Device device, int index) {
  std::unique_ptr<Queue>& queue = queues_[{static_cast<int>(device.kind), device.index, device.threads, index}];
  if (!queue) {
    if (device.kind == DeviceKind::host)
      queue = std::make_unique<HostQueue>(device, index);
    else
      queue = gpu_backend_->make_queue(device, index);
  }
  return *queue;
}

std::unique_ptr<Graph> Runtime::record(std::span<Queue* const> queues, const std::function<void()>& body) const {
  if (!queues.empty() && queues.front()->device().kind == DeviceKind::gpu) return gpu_backend_->record(queues, body);
  HostRecorder recorder(queues);
  body();
  return std::make_unique<HostGraph>(recorder.take());
}

std::pmr::memory_resource& Runtime::host_memory() {
  std::pmr::memory_resource* pinned = gpu_backend_ ? gpu_backend_->pinned_memory() : nullptr;
  return pinned ? *pinned : *std::pmr::new_delete_resource();
}

std::int64_t Runtime::free_memory_bytes(Device device) const {
  if (device.kind == DeviceKind::gpu) return gpu_backend_->free_memory_bytes(device);
  return std::min(host_.memory_bytes, free_host_memory().free_bytes);
}

std::vector<std::pair<std::string, std::string>> Runtime::readings(Device device) const {
  if (device.kind == DeviceKind::host) return {};
  try {
    return gpu_backend_->readings(device);
  } catch (const std::runtime_error&) {  // it no longer answers, and other calls say why
    return {};
  }
}

std::vector<MetricValue> Runtime::sample_metrics(std::span<const Device> devices) const {
  std::vector<MetricValue> all;
  for (const Started& started : started_)
    for (const Device& device : devices)
      for (const MetricValue& read : started.backend->sample_metrics(device)) {
        const auto same = std::ranges::find(all, read.name, &MetricValue::name);
        if (same == all.end())
          all.push_back(read);
        else
          same->value = std::max(same->value, read.value);
      }
  return all;
}

std::unique_ptr<EnergyCounter> Runtime::energy_counter(std::span<const Device> devices) const {
  if (devices.front().kind == DeviceKind::host) return rapl_counter();
  std::vector<std::unique_ptr<EnergyCounter>> counters;
  for (const Device& device : devices) counters.push_back(gpu_backend_->energy_counter(device));
  if (counters.size() == 1) return std::move(counters.front());
  return std::make_unique<SumOfCounters>(std::move(counters));
}

}  // namespace league
