// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backends/energy.hpp"
#include "backends/metric.hpp"

namespace league::cuda {

using Facts = std::vector<std::pair<std::string, std::string>>;

/// Facts from the driver's management interface, by the GPU's bus id "0000:3b:00.0". Empty without such an interface.
class Management {
 public:
  Management();
  ~Management();
  Management(const Management&) = delete;
  Management& operator=(const Management&) = delete;

  /// Constant facts: `power_limit_W`, `power_limit_default_W`, `mig`, and `other_processes` on the device.
  /// @pre this process has no context on the device yet: it would be counted
  [[nodiscard]] Facts facts(const std::string& bus_id) const;
  /// Current clocks, power and temperature.
  [[nodiscard]] Facts readings(const std::string& bus_id) const;
  /// What is read beside each sample.
  [[nodiscard]] std::vector<MetricValue> sample_metrics(const std::string& bus_id) const;
  /// The energy that the whole board has taken, its memory included; nullopt if it cannot be read.
  [[nodiscard]] std::optional<EnergyReading> energy(const std::string& bus_id) const;
  /// The interface: "NVML".
  [[nodiscard]] static const char* name();

 private:
  class Library;
  std::unique_ptr<Library> library_;
};

}  // namespace league::cuda
