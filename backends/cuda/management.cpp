// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/cuda/management.hpp"

#include <dlfcn.h>

#include <optional>

namespace league::cuda {

/// NVML, loaded at run time, since it comes with the driver. The few declarations are from nvml.h.
class Management::Library {
 public:
  using Device = void*;

  Library() : library_(dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL)) {
    auto* init = function<int()>("nvmlInit_v2");
    ready_ = init != nullptr && init() == 0;
  }
  ~Library() {
    auto* shutdown = function<int()>("nvmlShutdown");
    if (ready_ && shutdown != nullptr) shutdown();
    if (library_ != nullptr) dlclose(library_);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  /// Calls a function with output arguments. @returns whether it succeeded
  template <class... Arguments>
  [[nodiscard]] bool call(const char* name, Arguments... arguments) const {
    auto* called = function<int(Arguments...)>(name);
    return ready_ && called != nullptr && called(arguments...) == 0;
  }
  /// The value of a function's last argument; nullopt if it cannot be read.
  template <class... Arguments>
  [[nodiscard]] std::optional<unsigned> read(const char* name, Arguments... arguments) const {
    unsigned value = 0;
    return call(name, arguments..., &value) ? std::optional(value) : std::nullopt;
  }
  [[nodiscard]] Device device(const std::string& pci_bus_id) const {
    Device device = nullptr;
    return call("nvmlDeviceGetHandleByPciBusId_v2", pci_bus_id.c_str(), &device) ? device : nullptr;
  }
  /// Number of compute processes on the device; -1 if unknown.
  [[nodiscard]] int processes(Device device) const {
    constexpr int success = 0, insufficient_size = 7;
    unsigned count = 0;
    auto* list = function<int(Device, unsigned*, void*)>("nvmlDeviceGetComputeRunningProcesses_v3");
    const int status = ready_ && list != nullptr ? list(device, &count, nullptr) : -1;
    return status == success || status == insufficient_size ? static_cast<int>(count) : -1;
  }

 private:
  template <class Function>
  [[nodiscard]] Function* function(const char* name) const {
    return library_ == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(library_, name));
  }
  void* library_;
  bool ready_ = false;
};

Management::Management() : library_(std::make_unique<Library>()) {}
Management::~Management() = default;

namespace {

constexpr unsigned milliwatts = 1000, millijoules = 1000;

/// Why the driver lowers a clock below what was asked for: bits of nvmlClocksEventReasons. Those of an idle GPU, of
/// clocks that somebody has set, and of GPUs that follow each other's clock are no throttling.
constexpr unsigned long long hardware_slowdown = 0x8, hardware_heat = 0x40, power_brake = 0x80;
constexpr std::pair<const char*, unsigned long long> throttling[] = {
    {"throttled_by_power_cap", 0x4},
    {"throttled_by_hardware_slowdown", hardware_slowdown},
    {"throttled_by_heat", 0x20 | hardware_heat},
    {"throttled_by_power_brake", power_brake}};

/// Appends a value that was read.
void add(Facts& facts, const char* key, std::optional<unsigned> value, unsigned divisor = 1) {
  if (value) facts.emplace_back(key, std::to_string(*value / divisor));
}

}  // namespace

Facts Management::facts(const std::string& bus_id) const {
  const Library::Device device = library_->device(bus_id);
  if (device == nullptr) return {};
  Facts facts;
  add(facts, "power_limit_W", library_->read("nvmlDeviceGetEnforcedPowerLimit", device), milliwatts);
  add(facts, "power_limit_default_W", library_->read("nvmlDeviceGetPowerManagementDefaultLimit", device), milliwatts);
  unsigned mig = 0, pending = 0;
  if (library_->call("nvmlDeviceGetMigMode", device, &mig, &pending))
    facts.emplace_back("mig", mig == 0 ? "off" : "on");
  constexpr unsigned exclusive_process = 3;
  if (library_->read("nvmlDeviceGetComputeMode", device) == exclusive_process)
    facts.emplace_back("compute_mode", "exclusive");
  if (const int count = library_->processes(device); count >= 0)
    facts.emplace_back("other_processes", std::to_string(count));
  return facts;
}

Facts Management::readings(const std::string& bus_id) const {
  const Library::Device device = library_->device(bus_id);
  if (device == nullptr) return {};
  constexpr unsigned sm_clock = 1, memory_clock = 2, gpu_sensor = 0;
  Facts facts;
  add(facts, "sm_clock_MHz", library_->read("nvmlDeviceGetClockInfo", device, sm_clock));
  add(facts, "memory_clock_MHz", library_->read("nvmlDeviceGetClockInfo", device, memory_clock));
  add(facts, "temperature_C", library_->read("nvmlDeviceGetTemperature", device, gpu_sensor));
  add(facts, "power_W", library_->read("nvmlDeviceGetPowerUsage", device), milliwatts);
  return facts;
}

std::vector<MetricValue> Management::sample_metrics(const std::string& bus_id) const {
  const Library::Device device = library_->device(bus_id);
  unsigned long long reasons = 0;
  if (device == nullptr || (!library_->call("nvmlDeviceGetCurrentClocksEventReasons", device, &reasons) &&
                            !library_->call("nvmlDeviceGetCurrentClocksThrottleReasons", device, &reasons)))
    return {};
  // the driver sets its bit beside those of heat and of the power brake
  if ((reasons & (hardware_heat | power_brake)) != 0) reasons &= ~hardware_slowdown;
  std::vector<MetricValue> metrics;
  for (const auto& [name, bits] : throttling)
    metrics.push_back({.name = name, .value = (reasons & bits) != 0 ? 1.0 : 0.0, .marks = true});
  return metrics;
}

std::optional<EnergyReading> Management::energy(const std::string& bus_id) const {
  const Library::Device device = library_->device(bus_id);
  unsigned long long counted = 0;
  if (device == nullptr || !library_->call("nvmlDeviceGetTotalEnergyConsumption", device, &counted)) return {};
  EnergyReading reading{.joules = static_cast<double>(counted) / millijoules};
  if (const auto power = library_->read("nvmlDeviceGetPowerUsage", device))
    reading.watts = static_cast<double>(*power) / milliwatts;
  return reading;
}

const char* Management::name() { return "NVML"; }

}  // namespace league::cuda
