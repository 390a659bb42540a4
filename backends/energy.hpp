// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace league {

/// What the counter of a device says.
struct EnergyReading {
  double joules = 0;              ///< since an unknown moment; never decreases
  std::optional<double> watts{};  ///< the driver's own power reading, where there is one: for checks
};

/// A counter of the energy that devices take, which a driver updates every few to a hundred milliseconds.
class EnergyCounter {
 public:
  virtual ~EnergyCounter() = default;
  /// What is counted, by which interface: "NVML, board".
  [[nodiscard]] virtual std::string name() const = 0;
  /// @throws std::runtime_error if it cannot be read any more
  virtual EnergyReading read() = 0;
};

/// The processor packages of this host, by RAPL: everything that they do, and without their memory.
/// @throws Unsupported with the reason where there is none, or none that may be read
std::unique_ptr<EnergyCounter> rapl_counter(const std::filesystem::path& folder = "/sys/class/powercap");

}  // namespace league
