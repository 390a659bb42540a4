// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace league::cuda {

using Facts = std::vector<std::pair<std::string, std::string>>;

/// What the driver's management interface says of a GPU, by its bus id "0000:3b:00.0". Empty where there is none.
class Management {
 public:
  Management();
  ~Management();
  Management(const Management&) = delete;
  Management& operator=(const Management&) = delete;

  /// What stays while we measure: `power_limit_W`, `power_limit_default_W`, `mig`, and `other_processes` on the device.
  /// @pre no context of ours is on the device yet: it would be counted
  [[nodiscard]] Facts facts(const std::string& bus_id) const;
  /// Clocks, power and temperature of now.
  [[nodiscard]] Facts readings(const std::string& bus_id) const;

 private:
  class Library;
  std::unique_ptr<Library> library_;
};

}  // namespace league::cuda
