// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/cuda/management.hpp"

#include <filesystem>
#include <fstream>

namespace league::cuda {
namespace {

namespace fs = std::filesystem;

/// Appends a sensor's value divided by its unit; missing files are skipped.
void add(Facts& facts, const char* key, const fs::path& sensor, long long unit) {
  long long value = 0;
  if (std::ifstream(sensor) >> value) facts.emplace_back(key, std::to_string(value / unit));
}

/// The amdgpu driver's folder of a device's sensors; empty if there is none.
fs::path sensors_of(const std::string& bus_id) {
  std::error_code none;
  for (const auto& entry : fs::directory_iterator("/sys/bus/pci/devices/" + bus_id + "/hwmon", none))
    return entry.path();
  return {};
}

constexpr long long hertz_in_megahertz = 1'000'000, microwatts = 1'000'000, millidegrees = 1000;

}  // namespace

class Management::Library {};

Management::Management() = default;
Management::~Management() = default;

Facts Management::facts(const std::string& bus_id) const {
  Facts facts;
  const fs::path sensors = sensors_of(bus_id);
  add(facts, "power_limit_W", sensors / "power1_cap", microwatts);
  add(facts, "power_limit_default_W", sensors / "power1_cap_default", microwatts);
  return facts;
}

Facts Management::readings(const std::string& bus_id) const {
  Facts facts;
  const fs::path sensors = sensors_of(bus_id);
  add(facts, "sm_clock_MHz", sensors / "freq1_input", hertz_in_megahertz);
  add(facts, "memory_clock_MHz", sensors / "freq2_input", hertz_in_megahertz);
  add(facts, "temperature_C", sensors / "temp1_input", millidegrees);
  add(facts, "power_W", sensors / "power1_average", microwatts);
  return facts;
}

std::vector<MetricValue> Management::sample_metrics(const std::string&) const { return {}; }

/// The amdgpu driver's files of sensors have no counter of energy.
std::optional<EnergyReading> Management::energy(const std::string&) const { return {}; }
const char* Management::name() { return "amdgpu"; }

}  // namespace league::cuda
